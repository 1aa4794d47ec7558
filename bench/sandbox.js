/**
 * What a job pays for its sandbox, side by side in one run: `npm run bench:sandbox [rounds]`. The ways take turns within each round,
 * so that whatever else the machine does meets all of them. Compare rows by their ratio: the milliseconds are this machine's
 * at this moment. Needs a Docker engine and the runner image (SKILLMILL_IMAGE).
 */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import Docker from 'dockerode';
import tar from 'tar-stream';
import { createDockerExecutor } from '../dist/worker/executor/docker/docker-executor.js';

/** @typedef {import('../dist/worker/executor/executor.js').Executor} Executor */
/** @typedef {import('../dist/worker/executor/executor.js').OpenSandbox} OpenSandbox */
/** @typedef {import('../dist/worker/executor/executor.js').WorkspaceEntry} WorkspaceEntry */

const rounds = Number(process.argv[2] ?? 20);
const followingRuns = 5;
const mebibyte = 1024 * 1024;
const image = process.env['SKILLMILL_IMAGE'] ?? 'skillmill/runner:0.1.0';
const deployment = `bench-${process.pid}`;
const common = {
  image,
  deployment,
  owner: 'bench',
  limits: { memoryBytes: 512 * mebibyte, diskBytes: 256 * mebibyte, cpus: 1, processes: 256 },
};
const docker = new Docker();
const never = new AbortController().signal;
const job = { turnId: 'bench', sessionId: 'bench' };

/** @type {Map<string, number[]>} */
const figures = new Map();

const small = files(20, 4096);
const large = files(20, mebibyte);
await measure();
report();

async function measure() {
  const cold = createDockerExecutor(common);
  const warm = createDockerExecutor({ ...common, poolSize: 1 });
  try {
    for (let round = 0; round < rounds; round += 1) {
      await plainRun();
      await plainSteps();
      await ours(cold, 'miss');
      await untilReady(warm);
      await ours(warm, 'hit');
    }
  } finally {
    await warm.close();
  }
}

/** @param {Executor} executor */
async function untilReady(executor) {
  executor.warmUp();
  const filters = { label: [`skillmill.deployment=${deployment}`], status: ['running'] };
  while ((await docker.listContainers({ filters })).length === 0) await sleep(20);
  await sleep(300);
}

async function plainRun() {
  const args = ['run', '--rm', '--network=none', '--entrypoint=bash', image, '-c', 'echo hi'];
  await timed('docker run --rm', () => promisify(execFile)('docker', args));
}

async function plainSteps() {
  const Labels = { 'skillmill.bench': deployment };
  const HostConfig = { NetworkMode: 'none', Init: true };
  const spec = { Image: image, Entrypoint: ['sleep', 'infinity'], Labels, HostConfig };
  const container = await timed('create', () => docker.createContainer(spec));
  try {
    await timed('start', () => container.start());
    for (let run = 0; run < followingRuns; run += 1) await timed('exec', () => exec(container));
    const [smallTar, largeTar] = [await packed(small), await packed(large)];
    await timed('putArchive, 20 files', () => container.putArchive(smallTar, { path: '/tmp' }));
    await timed('putArchive, 20 MiB', () => container.putArchive(largeTar, { path: '/tmp' }));
  } finally {
    await timed('remove', () => container.remove({ force: true, v: true }));
  }
}

/** @param {Docker.Container} container */
async function exec(container) {
  const options = { Cmd: ['bash', '-c', 'echo hi'], AttachStdout: true, AttachStderr: true };
  const made = await container.exec(options);
  const stream = await made.start({ hijack: true, stdin: false });
  stream.resume();
  await new Promise((resolve) => stream.once('end', resolve));
  await made.inspect();
}

/** @param {Executor} executor @param {string} kind */
async function ours(executor, kind) {
  const startedAt = performance.now();
  const sandbox = await timed(`ours, opening (${kind})`, () => executor.open(job, never));
  try {
    await hi(sandbox);
    note(`ours, opening and first run (${kind})`, performance.now() - startedAt);
    if (kind === 'miss') return;
    for (let run = 0; run < followingRuns; run += 1) {
      await timed('ours, following run', () => hi(sandbox));
    }
    await timed('ours, staging 20 files', () => sandbox.put(small, 'keeper'));
    await timed('ours, staging 20 MiB', () => sandbox.put(large, 'keeper'));
    await collect(sandbox);
  } finally {
    await timed('ours, closing', () => sandbox.close());
  }
}

/** @param {OpenSandbox} sandbox */
async function hi(sandbox) {
  const command = { line: 'echo hi', cwd: '', env: {}, stdin: '' };
  const limits = { timeoutMs: 30_000, outputLimitBytes: 16_384 };
  const hooks = { signal: never, onOutput: () => undefined };
  const { stdout } = await sandbox.run({ ...command, ...limits }, hooks);
  if (stdout.text !== 'hi\n') throw new Error('the command printed something else');
}

/** @param {OpenSandbox} sandbox */
async function collect(sandbox) {
  const listing = await timed('ours, listing 40 files', () => sandbox.list(['skills'], 100));
  const paths = listing.files.slice(0, 10).map((file) => file.path);
  await timed('ours, collecting 10 files', async () => {
    for await (const item of sandbox.read(paths))
      if ('content' in item) await drained(item.content);
  });
}

/** @param {AsyncIterable<unknown>} stream */
async function drained(stream) {
  let pieces = 0;
  for await (const piece of stream) if (piece !== undefined) pieces += 1;
  return pieces;
}

/** @param {number} count @param {number} bytes @returns {WorkspaceEntry[]} */
function files(count, bytes) {
  return Array.from({ length: count }, (_, at) => ({
    path: `skills/s${bytes}/f${at}`,
    kind: 'file',
    mode: 0o644,
    content: Buffer.alloc(bytes, at),
  }));
}

/** @param {WorkspaceEntry[]} entries */
async function packed(entries) {
  const pack = tar.pack();
  for (const { path, content } of entries) pack.entry({ name: path }, Buffer.from(content ?? []));
  pack.finalize();
  /** @type {Buffer[]} */
  const chunks = [];
  for await (const chunk of pack) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** @template T @param {string} name @param {() => Promise<T>} work @returns {Promise<T>} */
async function timed(name, work) {
  const startedAt = performance.now();
  const result = await work();
  note(name, performance.now() - startedAt);
  return result;
}

/** @param {string} name @param {number} ms */
function note(name, ms) {
  const all = figures.get(name) ?? [];
  all.push(ms);
  figures.set(name, all);
}

function report() {
  const run = percentile('docker run --rm', 0.5);
  const header = ['ms', 'p50', 'p95', 'p99', 'max', 'p50 / docker run', 'n'];
  print(header);
  for (const [name, all] of figures) {
    const values = [0.5, 0.95, 0.99, 1].map((share) => percentile(name, share));
    const ratio = (values[0] ?? 0) / run;
    print([name, ...values.map((ms) => ms.toFixed(1)), ratio.toFixed(3), String(all.length)]);
  }
  const following = percentile('ours, following run', 0.5) / percentile('exec', 0.5);
  console.log(`a following run takes ${following.toFixed(3)} of an exec (p50)`);
}

/** @param {string[]} cells */
function print([name = '', ...cells]) {
  console.log(`${name.padEnd(36)}${cells.map((cell) => cell.padStart(17)).join('')}`);
}

/** @param {string} name @param {number} share */
function percentile(name, share) {
  const sorted = [...(figures.get(name) ?? [])].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
