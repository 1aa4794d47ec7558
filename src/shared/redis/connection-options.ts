import type { RedisOptions } from 'ioredis';
import { isBriefRefusal, isRefusal } from './refusals.js';

/**
 * What a connection is for: `client` fails fast (somebody waits for the answer), `worker` waits until Redis is
 * back, `blocking` is one that `XREAD BLOCK` may occupy, for 2 s at most.
 */
export type RedisRole = 'client' | 'worker' | 'blocking';

export const connectTimeoutMs = 2000;
/** A command of a client is answered or given up after this; also how long a client bears a fail-over. */
export const answerWithinMs = 4000;
const briefTroubleMs = 3000;
/** Refusals further apart than this are two troubles. */
const sameTroubleMs = 2000;
/** How soon a server that refuses is asked again. */
const askAgainMs = 500;

/**
 * ioredis' options for a role.
 *
 * No connection but a blocking one asks for INFO before it is used: while a script holds Redis up that check fails,
 * and ioredis then throws away what waits. Whoever sends a command hears himself what is wrong.
 */
export function connectionOptions(
  role: RedisRole,
  onRefusal: (error: Error) => void,
): RedisOptions {
  const patience = createPatience(role, onRefusal);
  const common: RedisOptions = {
    connectTimeout: connectTimeoutMs,
    keepAlive: 10_000,
    disableClientInfo: true,
    enableReadyCheck: false,
    retryStrategy: (times) => (patience.isTried() ? askAgainMs : Math.min(times * 100, 2000)),
    reconnectOnError: (error) => patience.bears(error),
  };
  switch (role) {
    case 'worker':
      // A command waits for the connection instead of failing; half-open ones are found by watchConnection.
      return { ...common, maxRetriesPerRequest: null };
    case 'client':
      // Without an answer the socket is given up and the command sent once more on a new one.
      return {
        ...common,
        maxRetriesPerRequest: 1,
        socketTimeout: answerWithinMs / 2,
        commandTimeout: answerWithinMs,
      };
    case 'blocking':
      return {
        ...common,
        maxRetriesPerRequest: 1,
        socketTimeout: answerWithinMs,
        enableReadyCheck: true,
        maxLoadingRetryTime: askAgainMs,
      };
  }
}

/**
 * Whether a refused command is sent again, on a new connection, since a fail-over may have moved the primary. A
 * worker's is until it is taken; others' for as long as a fail-over or a start takes, if it is one of those.
 */
function createPatience(role: RedisRole, onRefusal: (error: Error) => void) {
  let since = -Infinity;
  let last = -Infinity;
  return {
    isTried: () => performance.now() - last < sameTroubleMs,
    bears(error: Error): 2 | false {
      if (!(role === 'worker' ? isRefusal(error) : isBriefRefusal(error))) return false;
      const now = performance.now();
      if (now - last > sameTroubleMs) since = now;
      last = now;
      onRefusal(error);
      return role === 'worker' || now - since < briefTroubleMs ? 2 : false;
    },
  };
}
