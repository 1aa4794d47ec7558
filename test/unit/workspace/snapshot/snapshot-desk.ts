import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { BlobStore } from '../../../../src/shared/blobs/blob-store.js';
import { createFolderBlobStore } from '../../../../src/shared/blobs/folder-blob-store.js';
import type { WorkspaceVersion } from '../../../../src/shared/contracts/index.js';
import type { StoredFile } from '../../../../src/shared/results/stored-request.js';
import type { OpenSandbox, Tree } from '../../../../src/worker/executor/executor.js';
import { createLocalExecutor } from '../../../../src/worker/executor/local/local-executor.js';
import { SessionFiles } from '../../../../src/worker/workspace/snapshot/session-files.js';

const roots = ['work', 'out', 'runs'];
export const { signal } = new AbortController();
const job = { turnId: 'turn', sessionId: 'session' };
const dir = await mkdtemp(join(tmpdir(), 'skillmill-test-'));
/** The store that turns use unless they are given another. */
export const blobs = createFolderBlobStore(join(dir, 'store'));
const executor = createLocalExecutor({ owner: 'w', deployment: 'd', parentDir: dir });
const open: OpenSandbox[] = [];

afterAll(async () => {
  await Promise.all(open.map((sandbox) => sandbox.close()));
  await rm(dir, { recursive: true });
});

/** What a turn begins with. */
interface Beginning {
  readonly base?: WorkspaceVersion | undefined;
  readonly store?: BlobStore;
  readonly inputs?: readonly StoredFile[];
  readonly limits?: { bytes: number; entries: number };
}

/** A turn's files in a sandbox of its own. */
export async function begin({ base, store = blobs, inputs = [], limits }: Beginning = {}) {
  const sandbox = await executor.open(job, signal);
  open.push(sandbox);
  const within = limits ?? { bytes: 1e9, entries: 100_000 };
  const files = new SessionFiles({ base, inputs, blobs: store, limits: within, signal });
  const seen = await files.restore(sandbox, roots);
  return { sandbox, files, seen, at: (path: string) => join(sandbox.workspaceDir, path) };
}

/** All that lies in a sandbox, with the bytes of files; times to the microsecond. */
export async function contentOf(sandbox: OpenSandbox) {
  const { entries }: Tree = await sandbox.scan(roots);
  return Promise.all(
    entries
      .filter(({ path }) => path !== 'work/inputs')
      .map(async ({ path, kind, mode, mtime, target }) => ({
        ...{ path, kind, mode, target, mtime: mtime.slice(0, -3) },
        bytes: kind === 'file' ? sha256(await readFile(join(sandbox.workspaceDir, path))) : '',
      })),
  );
}

/** In hex. */
export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
