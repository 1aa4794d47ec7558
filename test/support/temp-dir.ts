import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder of its own for one test, gone when the test is over. */
export async function tempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'skillmill-test-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}
