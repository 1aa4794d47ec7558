import type { Redis } from 'ioredis';

const tickMs = 1000;

/**
 * Finds a connection that is half open (a router forgot it, a host went away without a word): it is asked each
 * second whether it answers, and made anew when it said nothing for so many seconds; ioredis sends again what was
 * open. Its own `socketTimeout` does the same for those who seldom ask, but it outlives a lost connection and then
 * ends the next one too, in the middle of a turn.
 *
 * Seconds are counted, not measured: after a long pause of this process the answer is there, not yet read.
 */
export function watchConnection(connection: Redis, silentSeconds: number): void {
  let timer: NodeJS.Timeout | undefined;
  const stop = () => clearInterval(timer);
  // From its beginning on: even the greeting may be swallowed.
  connection.on('connect', () => {
    stop();
    let unanswered = 0;
    timer = setInterval(() => {
      if (unanswered >= silentSeconds) {
        connection.stream.destroy();
        return;
      }
      unanswered += 1;
      if (unanswered > 1) return;
      const answered = () => (unanswered = 0);
      connection.ping().then(answered, answered);
    }, tickMs).unref();
  });
  connection.on('close', stop);
}
