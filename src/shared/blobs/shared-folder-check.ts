import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { blobFolderIdKey } from '../redis/keys.js';
import type { RedisClient } from '../redis/redis-client.js';

/** Workers say so again with each sign of life; a folder that no worker uses any more makes room for another. */
const folderTtlSeconds = 600;

/**
 * Is this the data folder that the other clients and workers of this Redis use? The first comer's folder becomes
 * the one while it is in use; its id lies in the folder and in Redis. False also when the folder cannot be written.
 */
export async function isSharedFolder(client: RedisClient, dataDir: string): Promise<boolean> {
  let id: string;
  try {
    id = await folderId(dataDir);
  } catch {
    return false;
  }
  await client.set(blobFolderIdKey(), id, 'EX', folderTtlSeconds, 'NX');
  if ((await client.get(blobFolderIdKey())) !== id) return false;
  await client.expire(blobFolderIdKey(), folderTtlSeconds);
  return true;
}

async function folderId(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true });
  const path = join(dataDir, 'folder-id');
  const candidate = join(dataDir, `folder-id.${randomUUID()}`);
  await writeFile(candidate, randomUUID());
  // A hard link appears whole or not at all; it fails where an earlier comer's id stands already.
  await link(candidate, path).catch(() => undefined);
  await rm(candidate, { force: true });
  return readFile(path, 'utf8');
}
