import { type Redis } from 'ioredis';
import {
  sessionIdSchema,
  sessionTag,
  tenantSchema,
  turnIdSchema,
  type TurnId,
} from '../../src/shared/contracts/index.js';
import { sessionKeys, turnBudgetKeys, turnKeys } from '../../src/shared/redis/keys.js';
import { appendStepsScript } from '../../src/shared/redis/scripts/append-steps.js';
import { askToCancelScript } from '../../src/shared/redis/scripts/ask-to-cancel.js';
import { cancelTurnScript } from '../../src/shared/redis/scripts/cancel-turn.js';
import { claimTurnScript } from '../../src/shared/redis/scripts/claim-turn.js';
import { commitTurnScript } from '../../src/shared/redis/scripts/commit-turn.js';
import { enqueueTurnScript } from '../../src/shared/redis/scripts/enqueue-turn.js';
import { markSessionScript } from '../../src/shared/redis/scripts/mark-session.js';
import { releaseLeaseScript } from '../../src/shared/redis/scripts/release-lease.js';
import { renewLeaseScript } from '../../src/shared/redis/scripts/renew-lease.js';
import { sessionTurnKeys } from '../../src/shared/redis/scripts/session-turn-keys.js';
import { settleInputsScript } from '../../src/shared/redis/scripts/settle-inputs.js';

export const tenant = tenantSchema.parse('acme');
export const resultTtl = 1000;
export const sessionTtl = 5000;
/** So long that no lease runs out by itself in a test; `expireLease` makes it so. */
export const leaseMs = 600_000;

export interface Proof {
  readonly token: number;
  readonly nonce: string;
}

export type Release = 'hand_over' | 'retry' | 'throttled';

export interface AcceptOptions {
  readonly request?: string;
  readonly priority?: number;
  readonly delayMs?: number;
  readonly onBusy?: 'queue' | 'reject' | 'interrupt' | 'steer';
  readonly markedAt?: number;
  readonly retryOf?: TurnId;
}

export interface CommitParts {
  readonly status?: string;
  readonly result?: string;
  readonly messages?: readonly string[];
  readonly state?: Readonly<Record<string, string>> | 'as it is';
  readonly artifacts?: readonly string[];
  /** A workspace version, JSON. */
  readonly workspace?: string;
}

export interface WriteParts {
  readonly number: number;
  readonly bodies?: readonly object[];
  readonly entries?: readonly object[];
  readonly isProgress?: boolean;
  /** Ids of messages without an end; `=` leaves them as they are. */
  readonly open?: string;
}

/** Everything that Redis holds of sessions, key by key, the times of lease and acceptance included; for "nothing was written". */
export async function dump(redis: Redis): Promise<Record<string, string | undefined>> {
  const keys = (await redis.keys('skillmill:{*')).sort();
  const values = await Promise.all(
    keys.map(async (key) => [key, (await redis.dumpBuffer(key)).toString('base64')] as const),
  );
  return Object.fromEntries(values);
}

/** One session and its scripts, called as the product calls them. */
export class SessionLine {
  readonly sessionId;
  readonly keys;
  readonly tag: string;
  private readonly redis: Redis;
  private writes = 0;

  constructor(redis: Redis, name = 's1') {
    this.redis = redis;
    this.sessionId = sessionIdSchema.parse(name);
    this.tag = sessionTag(tenant, this.sessionId);
    this.keys = sessionKeys(tenant, this.tag);
  }

  turn(n: number): TurnId {
    return turnIdSchema.parse(`turn_${this.tag}_${String(n).padStart(20, '0')}`);
  }

  turnKeys(turnId: TurnId) {
    return turnKeys(tenant, turnId);
  }

  /** The place in the line of a turn that waits its turn. */
  async enqueue(turnId: TurnId, request = '{}'): Promise<number> {
    return (await this.accept(turnId, { request })).position;
  }

  async accept(turnId: TurnId, options: AcceptOptions = {}) {
    const { request = '{}', priority = 1, delayMs = 0, onBusy = 'queue', retryOf } = options;
    const budget = turnBudgetKeys(tenant, turnId);
    const ended = retryOf === undefined ? undefined : turnKeys(tenant, retryOf);
    const markedAt = options.markedAt ?? (await this.mark());
    return enqueueTurnScript.run(
      this.redis,
      [
        ...this.all(turnId),
        ...[budget.spent, budget.calls],
        ...(ended === undefined ? [] : [ended.turn, ended.journal, ended.blobs]),
      ],
      [
        ...[turnId, this.sessionId, tenant, request, priority, delayMs, onBusy],
        ...[markedAt, retryOf ?? ''],
      ],
    );
  }

  /** Marks the session as open; the mark's time. */
  mark(): Promise<number> {
    return markSessionScript.run(
      this.redis,
      ['skillmill:open-sessions'],
      [`${tenant}/${this.tag}`],
    );
  }

  claim(turnId: TurnId, nonce = 'nonce-1', worker = 'w1') {
    return claimTurnScript.run(this.redis, this.all(turnId), [turnId, worker, nonce, leaseMs]);
  }

  /** Claims a turn that can be claimed. */
  async take(turnId: TurnId, nonce = 'nonce-1'): Promise<Proof> {
    const claim = await this.claim(turnId, nonce);
    if (claim.outcome !== 'claimed') throw new Error(`not claimed: ${claim.outcome}`);
    return { token: claim.token, nonce };
  }

  renew(_turnId: TurnId, proof: Proof) {
    return renewLeaseScript.run(
      this.redis,
      [this.keys.session],
      [proof.token, proof.nonce, leaseMs],
    );
  }

  settleInputs(turnId: TurnId, proof: Proof, request: string) {
    const keys = [this.keys.session, turnKeys(tenant, turnId).turn];
    return settleInputsScript.run(this.redis, keys, [proof.token, proof.nonce, request]);
  }

  release(turnId: TurnId, proof: Proof, why: Release = 'retry', pauseMs = 0) {
    const { turn, events } = turnKeys(tenant, turnId);
    return releaseLeaseScript.run(
      this.redis,
      [this.keys.session, turn, events],
      [proof.token, proof.nonce, why, pauseMs, '{"type":"released"}'],
    );
  }

  /** Publishes events as one write of its own; answers the last seq, or -1 when it was refused. */
  async append(turnId: TurnId, proof: Proof, bodies: readonly object[]): Promise<number> {
    this.writes += 1;
    const { outcome, seq } = await this.write(turnId, proof, { number: this.writes, bodies });
    return outcome === 'lost' ? -1 : seq;
  }

  write(turnId: TurnId, proof: Proof, parts: WriteParts) {
    const { turn, events, journal } = turnKeys(tenant, turnId);
    const { number, bodies = [], entries = [], isProgress = false, open = '=' } = parts;
    return appendStepsScript.run(
      this.redis,
      [this.keys.session, turn, events, journal, this.keys.steered],
      [
        ...[proof.token, proof.nonce, number, isProgress ? 1 : 0, open, bodies.length],
        ...[...bodies, ...entries].map((body) => JSON.stringify(body)),
      ],
    );
  }

  commit(turnId: TurnId, proof: Proof, parts: CommitParts = {}) {
    const { messages = [], state = {}, artifacts = [] } = parts;
    const counted = (items: readonly string[]) => [items.length, ...items];
    return commitTurnScript.run(this.redis, this.all(turnId), [
      ...[proof.token, proof.nonce, turnId, parts.status ?? 'completed'],
      ...[parts.result ?? '{"n":1}', resultTtl, sessionTtl],
      parts.workspace ?? '',
      ...counted(messages),
      ...(state === 'as it is' ? [-1] : counted(Object.entries(state).flat())),
      ...counted(artifacts),
    ]);
  }

  /** Asks whoever runs it, or who will run it next. */
  askToCancel(turnId: TurnId, isNextAsked = false) {
    const keys = [this.keys.session, turnKeys(tenant, turnId).turn, this.keys.line];
    return askToCancelScript.run(this.redis, keys, [turnId, isNextAsked ? 1 : 0]);
  }

  async cancel(
    turnId: TurnId,
    result = '{"cancelled":true}',
    messages: readonly string[] = [],
    journal?: number,
  ) {
    const length = journal ?? (await this.redis.llen(turnKeys(tenant, turnId).journal));
    return cancelTurnScript.run(this.redis, this.all(turnId), [
      ...[turnId, result, length, resultTtl, sessionTtl, '', 0, ...messages],
    ]);
  }

  /** As if a delayed turn's time had come. */
  async fallDue(turnId: TurnId): Promise<void> {
    const score = Number(await this.redis.zscore(this.keys.delayed, turnId));
    await this.redis.zadd(this.keys.delayed, 'XX', score % 4, turnId);
  }

  /** As if the holder had not renewed for the lease's time. */
  async expireLease(): Promise<void> {
    await this.redis.hset(this.keys.session, 'leaseExpiresAt', 1);
  }

  async line(): Promise<string[]> {
    return this.redis.zrange(this.keys.line, 0, -1);
  }

  /** A turn's published events: stream ids and parsed bodies. */
  async events(turnId: TurnId): Promise<{ id: string; body: Record<string, unknown> }[]> {
    const entries = await this.redis.xrange(turnKeys(tenant, turnId).events, '-', '+');
    return entries.map(([id, fields]) => ({
      id,
      body: JSON.parse(fields[fields.indexOf('body') + 1] ?? '') as Record<string, unknown>,
    }));
  }

  private all(turnId: TurnId): string[] {
    return sessionTurnKeys({ ...this.keys, ...turnKeys(tenant, turnId) });
  }
}

/** Proofs that are not the lease's: an older token, another's nonce, both, and none at all. */
export function wrongProofs({ token, nonce }: Proof): [string, Proof][] {
  return [
    ['an older token', { token: token - 1, nonce }],
    ['a later token', { token: token + 1, nonce }],
    ['another nonce', { token, nonce: 'other' }],
    ['no nonce', { token, nonce: '' }],
    ['neither', { token: 0, nonce: 'other' }],
  ];
}
