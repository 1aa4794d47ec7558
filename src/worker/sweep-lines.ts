import { z } from 'zod';
import { sessionIdSchema, tenantSchema } from '../shared/contracts/index.js';
import type { TurnQueue } from '../shared/queue/turn-queue.js';
import { openSessionsKey, sessionKeys } from '../shared/redis/keys.js';
import type { RedisClient } from '../shared/redis/redis-client.js';

const entrySchema = z
  .string()
  .transform((entry) => entry.split('/'))
  .pipe(z.tuple([tenantSchema, z.string()]));

/**
 * Makes sure that the head of every line has a job: whatever died between accepting or finishing a turn and
 * adding the next job left one without. Forgets sessions whose line is empty. One line's fault does not keep the others waiting.
 */
export async function sweepLines(
  client: RedisClient,
  queue: Pick<TurnQueue, 'addHead'>,
  onFault: (error: unknown) => void,
): Promise<void> {
  let cursor = '0';
  do {
    const [next, entries] = await client.sscan(openSessionsKey(), cursor, 'COUNT', 200);
    cursor = next;
    for (const entry of entries) await sweepLine(client, queue, entry).catch(onFault);
  } while (cursor !== '0');
}

async function sweepLine(
  client: RedisClient,
  queue: Pick<TurnQueue, 'addHead'>,
  entry: string,
): Promise<void> {
  const [tenant, tag] = entrySchema.parse(entry);
  const keys = sessionKeys(tenant, tag);
  const head = await client.lindex(keys.line, 0);
  const sessionId = sessionIdSchema.safeParse(await client.hget(keys.session, 'sessionId'));
  if (head !== null && sessionId.success) {
    await queue.addHead(tenant, sessionId.data, head);
    return;
  }
  await client.srem(openSessionsKey(), entry);
  // A turn accepted in between is put back here; one accepted after this puts itself back (enqueue marks twice).
  if ((await client.llen(keys.line)) > 0) await client.sadd(openSessionsKey(), entry);
}
