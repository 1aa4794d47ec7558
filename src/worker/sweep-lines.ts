import { z } from 'zod';
import {
  sessionIdSchema,
  tenantSchema,
  turnIdSchema,
  type SessionId,
  type Tenant,
} from '../shared/contracts/index.js';
import type { TurnQueue } from '../shared/queue/turn-queue.js';
import { openSessionsKey, sessionKeys, sweeperKey } from '../shared/redis/keys.js';
import { redisError, type RedisClient } from '../shared/redis/redis-client.js';
import { forgetSessionScript } from '../shared/redis/scripts/forget-session.js';

/** How often the lines are swept, by one worker of all. */
export const sweepLinesEveryMs = 5000;

/** So many sessions are looked at together; what is asked together travels together. */
const together = 500;

const entrySchema = z
  .string()
  .transform((entry) => entry.split('/'))
  .pipe(z.tuple([tenantSchema, z.string()]));

const pageSchema = z.tuple([z.string(), z.array(z.string())]);

/** What the sweep needs of the queue. */
export type SweepQueue = Pick<TurnQueue, 'add' | 'addHead' | 'has'>;

/**
 * Makes sure that the head of every line has a job, and the next delayed turn: whatever died between accepting or finishing a turn
 * and adding the next job left one without. Forgets sessions without open turns. One line's fault does not keep the others waiting.
 * @throws SkillmillError REDIS_UNAVAILABLE
 */
export async function sweepLines(
  client: RedisClient,
  queue: SweepQueue,
  onFault: (error: unknown) => void,
): Promise<void> {
  let cursor = '0';
  do {
    const page = await client.zscan(openSessionsKey(), cursor, 'COUNT', together);
    const [next, flat] = pageSchema.parse(page);
    cursor = next;
    const marks = flat.flatMap((entry, at) =>
      at % 2 === 0 ? [{ entry, markedAt: flat[at + 1] ?? '' }] : [],
    );
    await Promise.all(marks.map((mark) => sweepLine(client, queue, mark).catch(onFault)));
  } while (cursor !== '0');
}

/** The same, unless another worker does it in this interval. */
export async function sweepLinesInTurn(
  client: RedisClient,
  queue: SweepQueue,
  { workerId, onFault }: { readonly workerId: string; readonly onFault: (error: unknown) => void },
): Promise<void> {
  // A little less than the interval, so that a worker that sweeps alone does not miss every second time.
  const lifeMs = sweepLinesEveryMs - 500;
  const mine = await client
    .set(sweeperKey(), workerId, 'PX', lifeMs, 'NX')
    .catch((error: unknown) => {
      throw redisError(error);
    });
  if (mine === 'OK') await sweepLines(client, queue, onFault);
}

interface Mark {
  readonly entry: string;
  readonly markedAt: string;
}

async function sweepLine(client: RedisClient, queue: SweepQueue, mark: Mark): Promise<void> {
  const [tenant, tag] = entrySchema.parse(mark.entry);
  const keys = sessionKeys(tenant, tag);
  const [head, delayed, [sessionId, leaseExpiresAt, leaseTurn]] = await Promise.all([
    client.zrange(keys.line, 0, 0, 'WITHSCORES'),
    client.zrange(keys.delayed, 0, 0, 'WITHSCORES'),
    client.hmget(keys.session, 'sessionId', 'leaseExpiresAt', 'leaseTurn'),
  ]);
  const id = sessionIdSchema.safeParse(sessionId);
  if ((head.length === 0 && delayed.length === 0) || !id.success) {
    await forgetSessionScript.run(client, [openSessionsKey()], [mark.entry, mark.markedAt]);
    return;
  }
  const isRunning = leaseTurn === head[0] && Number(leaseExpiresAt) > Date.now();
  if (!isRunning) await giveJob(queue, { tenant, sessionId: id.data }, head, false);
  await giveJob(queue, { tenant, sessionId: id.data }, delayed, true);
}

/** Gives the first entry of a line a job, if it has none. */
async function giveJob(
  queue: SweepQueue,
  session: { readonly tenant: Tenant; readonly sessionId: SessionId },
  [member, score]: readonly string[],
  isDelayed: boolean,
): Promise<void> {
  if (member === undefined || (await queue.has(member))) return;
  const priority = Number(score) % 4;
  const delayMs = isDelayed ? Math.max(0, Math.floor(Number(score) / 4) - Date.now()) : 0;
  await queue.add({ ...session, turnId: turnIdSchema.parse(member) }, { priority, delayMs });
}
