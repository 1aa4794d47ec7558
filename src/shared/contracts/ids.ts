import { createHash } from 'node:crypto';
import { customAlphabet } from 'nanoid';
import { z } from 'zod';

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz';
const randomLength = 20;
const randomPart = customAlphabet(alphabet, randomLength);
const tagLength = 16;

/** A session's name as callers give it: 1–128 of `A-Za-z0-9._-` (DESIGN §3.1). */
export const sessionIdSchema = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,128}$/, 'must be 1 to 128 characters of A-Z a-z 0-9 . _ -')
  .brand<'SessionId'>();
export type SessionId = z.infer<typeof sessionIdSchema>;

/** `turn_` + the session's tag + a random part; letters and digits only, so that no queue refuses it. */
export const turnIdSchema = z
  .string()
  .regex(/^turn_[0-9a-z]{16}_[0-9a-z]{20}$/, 'must be a turn id as `enqueue` returned it')
  .brand<'TurnId'>();
export type TurnId = z.infer<typeof turnIdSchema>;

/** Who owns a session: the same session id under two tenants is two sessions. */
export const tenantSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be 1 to 63 characters of a-z 0-9 -')
  .brand<'Tenant'>();
export type Tenant = z.infer<typeof tenantSchema>;

export const defaultTenant: Tenant = tenantSchema.parse('default');

/** A new session's id. */
export function makeSessionId(): SessionId {
  return sessionIdSchema.parse(`session_${randomPart()}`);
}

/** The session of a turn that names a key and no session: the same for the same key, so that the key finds its first turn. */
export function sessionIdOfKey(tenant: Tenant, idempotencyKey: string): SessionId {
  const seed = JSON.stringify([tenant, 'session', idempotencyKey]);
  return sessionIdSchema.parse(`session_${digestPart(seed, randomLength)}`);
}

/**
 * The session's tag: it stands in every key of the session and in its turns' ids, so that a turn id alone
 * leads to the session's slot of a Redis Cluster. 16 characters of base 36 from SHA-256 hold 82 bits.
 */
export function sessionTag(tenant: Tenant, sessionId: SessionId): string {
  return digestPart(`${tenant}/${sessionId}`, tagLength);
}

/** A new turn's id in this session. With a seed it is the same for the same seed, which makes enqueueing it again harmless. */
export function makeTurnId(tenant: Tenant, sessionId: SessionId, seed?: string): TurnId {
  const own = seed === undefined ? randomPart() : digestPart(seed, randomLength);
  return turnIdSchema.parse(`turn_${sessionTag(tenant, sessionId)}_${own}`);
}

/** SHA-256 of a text in base 36, cut. */
function digestPart(text: string, length: number): string {
  const digest = createHash('sha256').update(text).digest('hex');
  let number = BigInt(`0x${digest}`);
  let part = '';
  while (part.length < length) {
    part += alphabet.charAt(Number(number % 36n));
    number /= 36n;
  }
  return part;
}

/** The session tag inside a turn id. */
export function tagOfTurn(turnId: TurnId): string {
  return turnId.slice('turn_'.length, 'turn_'.length + tagLength);
}
