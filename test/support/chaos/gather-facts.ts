import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import type { TurnResult } from '../../../src/producer/index.js';
import { openBlobStore } from '../../../src/shared/blobs/open-blob-store.js';
import { loadConfig } from '../../../src/shared/config/load-config.js';
import {
  defaultTenant,
  sessionIdSchema,
  turnIdSchema,
  type Message,
} from '../../../src/shared/contracts/index.js';
import { turnKeys } from '../../../src/shared/redis/keys.js';
import { readSession } from '../../../src/shared/session/session-store.js';
import { decodeManifest } from '../../../src/shared/session/workspace-manifest.js';
import { eventually } from '../eventually.js';
import type { ChaosWorld } from './chaos-world.js';
import { lasting } from './checks/check-keys.js';
import type { AcceptedTurn, ChaosFacts, LedgerLine, StreamEntry } from './facts.js';

const chainPath = 'work/chain.txt';

/** Reads all that a run has left. */
export async function gatherFacts(
  world: ChaosWorld,
  accepted: readonly AcceptedTurn[],
): Promise<ChaosFacts> {
  // A job whose worker died after its turn's end is cleared away by another, a moment later.
  const lastingKeys = await eventually('only keys that may stay', async () => {
    const keys = await keysWithoutExpiry(world);
    return keys.every((key) => lasting.test(key)) ? keys : undefined;
  }).catch(() => keysWithoutExpiry(world));
  await world.crew.end();
  const results = new Map<string, TurnResult>();
  const events = new Map<string, StreamEntry[]>();
  for (const { turnId } of accepted) {
    const result = await world.client.result(turnId, { waitMs: 0 }).catch(() => undefined);
    if (result !== undefined) results.set(turnId, result);
    events.set(turnId, await readStream(world, turnId));
  }
  const sessions = [...new Set(accepted.map(({ plan }) => plan.sessionId))];
  const histories = new Map<string, readonly Message[]>();
  for (const id of sessions) histories.set(id, await world.client.session(id).messages());
  return {
    ...{ accepted, results, events, histories, lastingKeys },
    chains: await readChains(world, sessions),
    ledger: await readLedger(world.ledgerPath),
    shown: world.model.shown,
    killed: world.crew.killed,
    crashes: world.crew.crashes,
    modelFaults: world.model.server.faults,
  };
}

async function keysWithoutExpiry({ redis }: ChaosWorld): Promise<string[]> {
  const keys = await redis.keys('*');
  const asked = redis.pipeline();
  for (const key of keys) asked.ttl(key);
  const replies = (await asked.exec()) ?? [];
  return keys.filter((_, index) => replies[index]?.[1] === -1);
}

const fieldsSchema = z.object({ body: z.string(), at: z.coerce.number() });
const bodySchema = z.looseObject({
  type: z.string(),
  result: z.unknown().optional(),
  callId: z.string().optional(),
});

/** The stream itself: what is behind its end would not be seen by a client. */
async function readStream({ redis }: ChaosWorld, turnId: string): Promise<StreamEntry[]> {
  const { events } = turnKeys(defaultTenant, turnIdSchema.parse(turnId));
  return (await redis.xrange(events, '-', '+')).map(([id, flat]) => {
    const pairs = flat.flatMap((key, index) => (index % 2 === 0 ? [[key, flat[index + 1]]] : []));
    const { body, at } = fieldsSchema.parse(Object.fromEntries(pairs));
    const { type, result, callId } = bodySchema.parse(JSON.parse(body));
    return { seq: Number(id.split('-')[0]), at, type, result, callId };
  });
}

async function readChains(
  { redis, server, dataDir }: ChaosWorld,
  sessions: readonly string[],
): Promise<Map<string, string>> {
  const { store } = loadConfig({ REDIS_URL: server.url, SKILLMILL_DATA_DIR: dataDir });
  const blobs = openBlobStore(redis, store);
  const read = async (sha256: string) => buffer(await blobs.open(sha256));
  const chains = new Map<string, string>();
  for (const id of sessions) {
    const session = await readSession(redis, defaultTenant, sessionIdSchema.parse(id));
    if (session.workspace === undefined) continue;
    const { entries } = await decodeManifest(await read(session.workspace.manifest));
    const file = entries.find(({ path }) => path === chainPath);
    if (file?.kind !== 'file') continue;
    const bytes = await read(file.blob);
    chains.set(id, bytes.subarray(file.offset, file.offset + file.sizeBytes).toString('utf8'));
  }
  return chains;
}

async function readLedger(path: string): Promise<LedgerLine[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as LedgerLine);
}
