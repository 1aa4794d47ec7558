import { z } from 'zod';
import { artifactSchema, sha256Schema, workspaceVersionSchema } from '../contracts/index.js';
import { SkillmillError, errorMessage } from '../errors/skillmill-error.js';
import { referenceOf, sessionKeyPattern, type Reference } from '../redis/keys.js';
import { parseStored } from '../redis/parse-stored.js';
import { redisError, type RedisClient } from '../redis/redis-client.js';
import { scanKeys } from '../redis/scan-keys.js';

/** So many records are in memory at a time; a request may hold some hundred KiB. */
const readAtATime = 50;

const ofRequest = z.object({ files: z.array(z.looseObject({ base64: z.string().optional() })) });
const ofResult = z.object({ artifacts: z.array(artifactSchema) });

/**
 * Every blob that a session, a request, a result or a running turn refers to. A reference that moves meanwhile is seen at one
 * of its two places: what a turn has stored stays noted for an hour after its commit has made it the session's.
 * @throws SkillmillError REDIS_UNAVAILABLE; INTERNAL for a record that cannot be understood, which may refer to anything
 */
export async function findReferences(
  client: RedisClient,
  signal?: AbortSignal,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for await (const keys of scanKeys(client, sessionKeyPattern)) {
    const records = keys.map((key) => ({ key, kind: kindOf(key) })).filter(mayRefer);
    for (let at = 0; at < records.length; at += readAtATime) {
      signal?.throwIfAborted();
      const some = records.slice(at, at + readAtATime);
      const lists = await Promise.all(some.map((record) => readReferences(client, record)));
      for (const sha256 of lists.flat()) found.add(sha256);
    }
  }
  return found;
}

interface Referring {
  readonly key: string;
  readonly kind: Exclude<Reference, 'none'>;
}

const mayRefer = (record: { key: string; kind: Reference }): record is Referring =>
  record.kind !== 'none';

function kindOf(key: string): Reference {
  const kind = referenceOf(key);
  if (kind !== undefined) return kind;
  throw unclear(key, 'this version does not know what it is for');
}

async function readReferences(client: RedisClient, { key, kind }: Referring): Promise<string[]> {
  const texts = await read(client, { key, kind }).catch((error: unknown) => {
    throw redisError(error);
  });
  try {
    return texts.flatMap((text, index) => (text === null ? [] : referencesIn(kind, text, index)));
  } catch (error) {
    throw unclear(key, errorMessage(error), error);
  }
}

async function read(client: RedisClient, { key, kind }: Referring): Promise<(string | null)[]> {
  switch (kind) {
    case 'artifacts':
      return client.lrange(key, 0, -1);
    case 'workspace':
      return [await client.get(key)];
    case 'turn':
      return client.hmget(key, 'request', 'result');
    case 'blobs':
      return client.smembers(key);
  }
}

function referencesIn(kind: Referring['kind'], text: string, index: number): string[] {
  switch (kind) {
    case 'artifacts':
      return [parseStored(artifactSchema, text).sha256];
    case 'workspace': {
      const { manifest, blobs } = parseStored(workspaceVersionSchema, text);
      return [manifest, ...blobs];
    }
    case 'turn':
      if (index === 1) return parseStored(ofResult, text).artifacts.map(({ sha256 }) => sha256);
      return parseStored(ofRequest, text).files.flatMap(hashesIn);
    case 'blobs':
      return [sha256Schema.parse(text)];
  }
}

/** Every hash that a file's record names, so that a kind of file which a later version adds is kept too. */
function hashesIn(file: { base64?: string | undefined }): string[] {
  if (file.base64 !== undefined) return [];
  return JSON.stringify(file).match(/\b[0-9a-f]{64}\b/g) ?? [];
}

function unclear(key: string, why: string, cause?: unknown): SkillmillError {
  return new SkillmillError(
    'INTERNAL',
    `Nothing was collected: the record ${key} may refer to files that would be lost (${why}). Collect with the version that wrote it, or remove the record.`,
    { cause },
  );
}
