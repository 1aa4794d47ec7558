import { chmod, readdir, rm } from 'node:fs/promises';

/** Removes a folder with everything in it, folders of mode 000 included; one that is gone is no error. Links are removed, not followed. */
export async function removeTree(folder: string): Promise<void> {
  await openAll(Buffer.from(folder));
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Paths as bytes: a name need not be UTF-8. */
async function openAll(folder: Buffer): Promise<void> {
  const opened = await chmod(folder, 0o700).catch(() => 'gone' as const);
  if (opened === 'gone') return;
  const entries = await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
  for (const entry of entries) {
    if (entry.isDirectory()) await openAll(Buffer.concat([folder, Buffer.from('/'), entry.name]));
  }
}
