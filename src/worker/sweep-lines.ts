import { z } from 'zod';
import { sessionIdSchema, tenantSchema, type TurnId } from '../shared/contracts/index.js';
import type { JobOptions, TurnPointer, TurnQueue } from '../shared/queue/turn-queue.js';
import { openSessionsKey, sessionKeys, sweeperKey, turnKeys } from '../shared/redis/keys.js';
import { redisError, type RedisClient } from '../shared/redis/redis-client.js';
import { forgetSessionScript } from '../shared/redis/scripts/forget-session.js';
import { lookAtLineScript } from '../shared/redis/scripts/look-at-line.js';

/** How often the lines are swept, by one worker of all. */
export const sweepLinesEveryMs = 5000;

/** So many sessions are looked at together: what is asked together travels together, and keeps the turns of this worker waiting. */
const together = 100;

const entrySchema = z
  .string()
  .transform((entry) => entry.split('/'))
  .pipe(z.tuple([tenantSchema, z.string()]));

const pageSchema = z.tuple([z.string(), z.array(z.string())]);

/** What the sweep needs of the queue. */
export type SweepQueue = Pick<TurnQueue, 'add' | 'hurry' | 'idle'>;

/**
 * Makes sure that the head of every line has a job, and the next delayed turn: whatever died between accepting or finishing a turn
 * and adding the next job left one without. A job that is delayed longer than its turn is hurried: BullMQ's delays are counted by one
 * host's clock and end by another's. Forgets sessions without open turns. One line's fault does not keep the others waiting.
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
    await sweepTogether(client, queue, marks, onFault);
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

async function sweepTogether(
  client: RedisClient,
  queue: SweepQueue,
  marks: readonly Mark[],
  onFault: (error: unknown) => void,
): Promise<void> {
  const none: readonly Due[] = [];
  const looks = marks.map((mark) =>
    lookAt(client, mark).catch((error: unknown) => {
      onFault(error);
      return none;
    }),
  );
  const due = (await Promise.all(looks)).flat();
  if (due.length === 0) return;
  const idle = await queue.idle(due.map(({ pointer }) => pointer.turnId));
  const mend = async ({ pointer, options, now }: Due) => {
    const why = idle.get(pointer.turnId);
    if (why === 'missing') await queue.add(pointer, options);
    const isLate = why === 'delayed' && options.delayMs === 0;
    if (isLate && !(await isPausing(client, pointer, now))) await queue.hurry(pointer.turnId);
  };
  await Promise.all(due.map((turn) => mend(turn).catch(onFault)));
}

/** Has an attempt asked for a pause that is not over? */
async function isPausing(
  client: RedisClient,
  { tenant, turnId }: TurnPointer,
  now: number,
): Promise<boolean> {
  return Number(await client.hget(turnKeys(tenant, turnId).turn, 'notBefore')) > now;
}

/** A turn that must have a job. */
interface Due {
  readonly pointer: TurnPointer;
  readonly options: JobOptions;
  /** When this was looked at, by Redis' clock. */
  readonly now: number;
}

/** The turns of a session that must have a job; a session without open turns is forgotten. */
async function lookAt(client: RedisClient, mark: Mark): Promise<readonly Due[]> {
  const [tenant, tag] = entrySchema.parse(mark.entry);
  const keys = sessionKeys(tenant, tag);
  const session = [keys.line, keys.delayed, keys.session];
  const { head, delayed, isRunning, now, ...of } = await lookAtLineScript.run(client, session, []);
  const id = sessionIdSchema.safeParse(of.sessionId);
  if ((head === undefined && delayed === undefined) || !id.success) {
    await forgetSessionScript.run(client, [openSessionsKey()], [mark.entry, mark.markedAt]);
    return [];
  }
  const dueOf = ({ turnId, score }: { turnId: TurnId; score: number }, delayMs: number): Due => ({
    pointer: { tenant, sessionId: id.data, turnId },
    options: { priority: score % 4, delayMs },
    now,
  });
  return [
    ...(head === undefined || isRunning ? [] : [dueOf(head, 0)]),
    ...(delayed === undefined
      ? []
      : [dueOf(delayed, Math.max(0, Math.floor(delayed.score / 4) - now))]),
  ];
}
