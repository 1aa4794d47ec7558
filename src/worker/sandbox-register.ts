import { z } from 'zod';
import { workerSandboxesKey } from '../shared/redis/keys.js';
import { parseStored } from '../shared/redis/parse-stored.js';
import type { RedisClient } from '../shared/redis/redis-client.js';
import { noteSandboxScript } from '../shared/redis/scripts/note-sandbox.js';
import type { OnServing } from './executor/executor.js';

const ttlSeconds = 60;
const servedSchema = z.object({ turnId: z.string(), sessionId: z.string(), since: z.number() });

/** What a sandbox serves, and since when (milliseconds since 1970). */
export type Served = z.output<typeof servedSchema>;

/** Writes down in Redis what each of a worker's sandboxes serves; a command does not wait for it, and a failure costs only the note. */
export function createSandboxRegister(
  client: RedisClient,
  workerId: string,
  tellFailure: (error: unknown) => void,
): OnServing {
  const key = workerSandboxesKey(workerId);
  return (sandbox, job) => {
    const served: Served | undefined = job && {
      turnId: job.turnId,
      sessionId: job.sessionId,
      since: Date.now(),
    };
    const text = served === undefined ? '' : JSON.stringify(served);
    noteSandboxScript.run(client, [key], [ttlSeconds, sandbox, text]).catch(tellFailure);
  };
}

/** Keeps a worker's notes for as long again. */
export async function keepSandboxNotes(client: RedisClient, workerId: string): Promise<void> {
  await client.expire(workerSandboxesKey(workerId), ttlSeconds);
}

/** What a worker's sandboxes serve, by their names. @throws SkillmillError REDIS_UNAVAILABLE */
export async function servedBy(
  client: RedisClient,
  workerId: string,
): Promise<ReadonlyMap<string, Served>> {
  const notes = Object.entries(await client.hgetall(workerSandboxesKey(workerId)));
  return new Map(notes.map(([name, text]) => [name, parseStored(servedSchema, text)]));
}
