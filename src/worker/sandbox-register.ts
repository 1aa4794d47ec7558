import { workerSandboxesKey } from '../shared/redis/keys.js';
import type { RedisClient } from '../shared/redis/redis-client.js';
import { noteSandboxScript } from '../shared/redis/scripts/note-sandbox.js';
import type { OnServing } from './executor/executor.js';

const ttlSeconds = 60;

/** Writes down in Redis what each of a worker's sandboxes serves, and since when (milliseconds since 1970); a command does not
 *  wait for it, and a failure costs only the note. */
export function createSandboxRegister(
  client: RedisClient,
  workerId: string,
  tellFailure: (error: unknown) => void,
): OnServing {
  const key = workerSandboxesKey(workerId);
  return (sandbox, job) => {
    const text =
      job === undefined
        ? ''
        : JSON.stringify({ turnId: job.turnId, sessionId: job.sessionId, since: Date.now() });
    noteSandboxScript.run(client, [key], [ttlSeconds, sandbox, text]).catch(tellFailure);
  };
}

/** Keeps a worker's notes for as long again. */
export async function keepSandboxNotes(client: RedisClient, workerId: string): Promise<void> {
  await client.expire(workerSandboxesKey(workerId), ttlSeconds);
}
