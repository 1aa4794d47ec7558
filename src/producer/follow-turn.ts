import { setTimeout as sleep } from 'node:timers/promises';
import {
  isFinalEvent,
  type Tenant,
  type TurnEvent,
  type TurnId,
} from '../shared/contracts/index.js';
import { SkillmillError } from '../shared/errors/skillmill-error.js';
import { readTurnEvents } from '../shared/events/turn-event-log.js';
import { closeRedis, connectRedis, requireRedis } from '../shared/redis/redis-client.js';
import { readTurn } from '../shared/results/turn-store.js';

export interface FollowOptions {
  /** Events with a seq above this; 0 begins at the start. */
  readonly after?: number;
  /** Ends the iteration without an error. */
  readonly signal?: AbortSignal;
}

/** One blocking read; a cancel or an abort is seen after this at the latest. */
const blockMs = 2000;
/** A Redis that is started again, or fails over, is waited for; then the follower gives up. */
const patienceMs = 60_000;
const pauseAfterFailureMs = 500;

/**
 * A turn's events in order, up to and with its final one. Goes on where it was after a dropped connection.
 * @throws SkillmillError TURN_NOT_FOUND, REDIS_UNAVAILABLE
 */
export async function* followTurn(
  urls: readonly string[],
  tenant: Tenant,
  turnId: TurnId,
  options: FollowOptions = {},
): AsyncGenerator<TurnEvent, void, undefined> {
  const connection = connectRedis(urls, 'blocking');
  const stop = () => closeRedis(connection);
  const stopped = () => options.signal?.aborted ?? false;
  options.signal?.addEventListener('abort', stop, { once: true });
  let after = options.after ?? 0;
  let answeredAt = performance.now();
  let over = false;
  try {
    await requireRedis(connection, urls);
    await readTurn(connection, tenant, turnId); // an unknown turn is said at once
    while (!stopped()) {
      try {
        const waitMs = over ? 0 : blockMs;
        const page = await readTurnEvents(connection, tenant, turnId, { after, waitMs });
        answeredAt = performance.now();
        for (const event of page.events) {
          yield event;
          if (isFinalEvent(event)) return;
        }
        const isIdle = page.after === after;
        after = page.after;
        if (!isIdle) continue;
        if (over) return;
        // A reader that begins after the final event ends as well: once more without waiting, then it is over.
        over = (await readTurn(connection, tenant, turnId)).result !== undefined;
      } catch (error) {
        if (stopped() || !isPassing(error) || performance.now() - answeredAt > patienceMs)
          throw error;
        await sleep(pauseAfterFailureMs);
      }
    }
  } catch (error) {
    // The connection was taken away on purpose.
    if (!stopped()) throw error;
  } finally {
    options.signal?.removeEventListener('abort', stop);
    closeRedis(connection);
  }
}

/** A connection that was lost comes back; anything else stays as it is. */
function isPassing(error: unknown): boolean {
  return error instanceof SkillmillError && error.code === 'REDIS_UNAVAILABLE';
}
