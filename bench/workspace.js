/**
 * What it costs that a session's files follow it, beside `tar` through `docker exec` in the same run:
 * `npm run bench:workspace [rounds [size]]`. For each tree: a snapshot of all of it, one when nothing has changed, one when one file has,
 * and putting it back into another sandbox. The ways take turns within each round; compare rows by their ratio to tar's. Needs a
 * Docker engine and the runner image (SKILLMILL_IMAGE). Blobs lie in a folder of the system's temporary one.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createFolderBlobStore } from '../dist/shared/blobs/folder-blob-store.js';
import { createDockerExecutor } from '../dist/worker/executor/docker/docker-executor.js';
import { SessionFiles } from '../dist/worker/workspace/snapshot/session-files.js';
import { Figures } from './sandbox/figures.js';

/** @typedef {import('../dist/worker/executor/executor.js').OpenSandbox} OpenSandbox */
/** @typedef {import('../dist/shared/contracts/index.js').WorkspaceVersion} WorkspaceVersion */
/** @typedef {{ name: string, files: number, bytes: number }} Size */

const rounds = Number(process.argv[2] ?? 5);
const only = process.argv[3];
const mebibyte = 1024 * 1024;
/** @type {Size[]} */
const sizes = [
  { name: '10 files', files: 10, bytes: 4096 },
  { name: '1,000 files', files: 1000, bytes: 4096 },
  { name: '20,000 files', files: 20_000, bytes: 1024 },
  { name: '200 MiB', files: 20, bytes: 10 * mebibyte },
];
const { signal } = new AbortController();
const snapshotLimits = { bytes: 1024 * mebibyte, entries: 100_000 };
const run = promisify(execFile);

const folder = await mkdtemp(join(tmpdir(), 'skillmill-bench-'));
let serving = '';
const executor = createDockerExecutor({
  image: process.env['SKILLMILL_IMAGE'] ?? 'skillmill/runner:0.1.0',
  deployment: `bench-${process.pid}`,
  owner: 'bench',
  limits: { memoryBytes: 2048 * mebibyte, diskBytes: 1024 * mebibyte, cpus: 2, processes: 256 },
  onServing: (name, job) => {
    if (job !== undefined) serving = name;
  },
});
try {
  for (const size of sizes.filter(({ name }) => name.includes(only ?? ''))) {
    const figures = new Figures();
    for (let round = 0; round < rounds; round += 1) await measure(size, figures, round);
    console.log(`\n${size.name} (${size.files} of ${size.bytes} bytes)`);
    figures.print('tar out');
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** @param {Size} size @param {Figures} figures @param {number} round */
async function measure(size, figures, round) {
  const blobs = createFolderBlobStore(join(folder, `${size.files}-${round}`));
  const archive = join(folder, 'all.tar');
  const common = { inputs: [], blobs, limits: snapshotLimits, signal };
  const first = new SessionFiles({ ...common, base: undefined });
  await inSandbox(async (sandbox) => {
    await first.restore(sandbox, ['work']);
    await command(sandbox, making(size));
    await figures.timed('tar out', () => shell(`docker exec ${serving} tar -c work > ${archive}`));
    await figures.timed('snapshot of all', () => first.save(sandbox));
    await figures.timed('snapshot, nothing changed', () => first.save(sandbox));
    await command(sandbox, 'echo changed > work/d/f00001');
    await figures.timed('snapshot, one file changed', () => first.save(sandbox));
  });
  const base = first.version;
  await inSandbox(() =>
    figures.timed('tar in', () =>
      shell(`docker exec -i -u 1000 ${serving} tar -x -m < ${archive}`),
    ),
  );
  await inSandbox(async (sandbox) => {
    const second = new SessionFiles({ ...common, base });
    await figures.timed('putting all back', () => second.restore(sandbox, ['work']));
    await figures.timed('snapshot, put back and unchanged', () => second.save(sandbox));
    if (second.version !== undefined) throw new Error('an unchanged workspace was stored again');
  });
  await rm(archive);
}

/** @param {(sandbox: OpenSandbox) => Promise<void>} use */
async function inSandbox(use) {
  const sandbox = await executor.open({ turnId: 'bench', sessionId: 'bench' }, signal);
  try {
    await use(sandbox);
  } finally {
    await sandbox.close();
  }
}

/** Files whose bytes do not repeat. @param {Size} size */
function making({ files, bytes }) {
  return `mkdir work/d && head -c ${files * bytes} /dev/urandom | split -b ${bytes} -a 5 -d - work/d/f`;
}

/** @param {OpenSandbox} sandbox @param {string} line */
async function command(sandbox, line) {
  const hooks = { signal, onOutput: () => undefined };
  const limits = { timeoutMs: 300_000, outputLimitBytes: 4096 };
  const { exitCode, stderr } = await sandbox.run(
    { line, cwd: '.', env: {}, stdin: '', ...limits },
    hooks,
  );
  if (exitCode !== 0) throw new Error(`${line} ended with ${exitCode}: ${stderr.text}`);
}

/** @param {string} line */
async function shell(line) {
  await run('bash', ['-c', line]);
}
