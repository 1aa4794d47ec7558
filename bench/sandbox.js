/**
 * What a job pays for its sandbox, side by side in one run: `npm run bench:sandbox [rounds]`. The ways take turns within each round,
 * so that whatever else the machine does meets all of them. Compare rows by their ratio: the milliseconds are this machine's
 * at this moment. Needs a Docker engine and the runner image (SKILLMILL_IMAGE).
 *
 * A row of ours is a whole `skill_run`: opening, staging, the command, collecting. Hit: a sandbox was waiting. Miss: none was. Cold: none
 * was, and the worker had never staged the skill. Following runs come after a pause of 200 ms, which a model needs at least, or
 * without one.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSkillRepository } from '../dist/shared/skills/skill-repository.js';
import { createDockerExecutor } from '../dist/worker/executor/docker/docker-executor.js';
import { openTurnSkills } from '../dist/worker/skills/turn-skills.js';
import { SkillPacks } from '../dist/worker/workspace/skill-packs.js';
import { Figures, line } from './sandbox/figures.js';
import { Bench } from './sandbox/job.js';
import { packed, Plain } from './sandbox/plain.js';

/** @typedef {import('../dist/worker/executor/executor.js').Executor} Executor */

const rounds = Number(process.argv[2] ?? 20);
const jobsAtATime = [1, 4, 8];
const followingRuns = 5;
const modelPauseMs = 200;
const mebibyte = 1024 * 1024;
const image = process.env['SKILLMILL_IMAGE'] ?? 'skillmill/runner:0.1.0';
const deployment = `bench-${process.pid}`;
const limits = {
  ...{ memoryBytes: 512 * mebibyte, diskBytes: 256 * mebibyte },
  ...{ cpus: 1, processes: 256 },
};

const folder = await mkdtemp(join(tmpdir(), 'skillmill-bench-'));
const sizes = new Map([
  ['hi', { count: 2, bytes: 1024 }],
  ['20 files', { count: 20, bytes: 4096 }],
  ['20 MiB', { count: 20, bytes: mebibyte }],
]);
const repository = openSkillRepository([await writeSkills()]);
const figures = new Figures();
const plain = new Plain(image, deployment, figures);
try {
  const bench = new Bench(openTurnSkills(await repository.snapshot()), join(folder, 'data'));
  await measureSteps(bench);
  figures.print('docker run --rm');
  compare();
  await measureJobs(bench);
} finally {
  await repository.close();
  await rm(folder, { recursive: true, force: true });
}

/** @param {string} owner @param {number} size */
function executorOf(owner, size = 0) {
  const pool = { size, refill: 2, maxAgeMs: 600_000 };
  return createDockerExecutor({ image, deployment, limits, owner, pool });
}

/** @param {Bench} bench */
async function measureSteps(bench) {
  /** @type {Map<string, Buffer>} */
  const archives = new Map();
  for (const [name, files] of sizes)
    if (name !== 'hi') archives.set(name, await packed(filesOf(files)));
  const packs = new SkillPacks();
  const warm = executorOf('warm', 1);
  try {
    for (let round = 0; round < rounds; round += 1) {
      await plain.run();
      await plain.steps(archives, followingRuns);
      await firstRun(bench, executorOf('cold'), new SkillPacks(), 'cold');
      await firstRun(bench, executorOf('miss'), packs, 'miss');
      await untilReady(warm, 1);
      await whole(bench, warm, packs);
    }
  } finally {
    await warm.close();
  }
}

/** @param {Executor} executor @param {number} count */
async function untilReady(executor, count) {
  executor.warmUp();
  while ((await plain.running(deployment)) < count) await sleep(20);
  // One that runs still makes its workspace before it is ready, which nobody outside can see.
  await sleep(300);
}

/** @param {Bench} bench @param {Executor} executor @param {SkillPacks} packs @param {string} kind */
async function firstRun(bench, executor, packs, kind) {
  const job = bench.job(executor, packs);
  try {
    await figures.timed(`first skill_run (${kind})`, () => job.run('hi', 'echo hi'));
  } finally {
    await figures.timed('closing', () => job.close());
  }
}

/** @param {Bench} bench @param {Executor} executor @param {SkillPacks} packs */
async function whole(bench, executor, packs) {
  const opening = await figures.timed('handing over (hit)', () =>
    executor.open({ turnId: 'bench', sessionId: 'bench' }, new AbortController().signal),
  );
  await opening.close();
  await untilReady(executor, 1);
  const job = bench.job(executor, packs);
  try {
    await figures.timed('first skill_run (hit)', () => job.run('hi', 'echo hi'));
    for (let run = 0; run < followingRuns; run += 1) {
      await sleep(modelPauseMs);
      await figures.timed('following skill_run', () => job.run('hi', 'echo hi'));
    }
    for (let run = 0; run < followingRuns; run += 1) {
      await figures.timed('following skill_run, without a pause', () => job.run('hi', 'echo hi'));
    }
    for (const name of ['20 files', '20 MiB']) {
      await sleep(modelPauseMs);
      const skill = skillName(name);
      await figures.timed(`skill_run that stages ${name}`, () => job.run(skill, 'echo hi'));
    }
    await sleep(modelPauseMs);
    const writing = 'for i in {1..10}; do echo $i > $OUTPUT_DIR/$i; done';
    await figures.timed('skill_run that leaves 10 files', () => job.run('hi', writing));
  } finally {
    await figures.timed('closing', () => job.close());
  }
}

function compare() {
  const ratio = (/** @type {string} */ row, /** @type {string} */ base) =>
    (figures.percentile(row, 0.5) / figures.percentile(base, 0.5)).toFixed(3);
  console.log(
    `\nfirst skill_run on a hit / docker run: ${ratio('first skill_run (hit)', 'docker run --rm')}`,
  );
  console.log(`following skill_run / exec: ${ratio('following skill_run', 'exec')}`);
  console.log(`miss / docker run: ${ratio('first skill_run (miss)', 'docker run --rm')}\n`);
}

/** Jobs of one `skill_run` each, against containers that are only made, started and removed. The pool's refill counts: it is
 *  full again at the end.
 *  @param {Bench} bench */
async function measureJobs(bench) {
  line([
    'jobs a second, pool refill counted',
    'at a time',
    'ours',
    'bare containers',
    'ours / bare',
  ]);
  for (const atATime of jobsAtATime) {
    const count = 8 * atATime + 16;
    const bare = await rate(count, atATime, () => plain.life());
    const executor = executorOf(`jobs-${atATime}`, 2 * atATime);
    const packs = new SkillPacks();
    try {
      await untilReady(executor, 2 * atATime);
      const startedAt = performance.now();
      await rate(count, atATime, async () => {
        const job = bench.job(executor, packs);
        await job.run('hi', 'echo hi').finally(() => job.close());
      });
      while ((await plain.running(deployment)) < 2 * atATime) await sleep(20);
      const ours = (1000 * count) / (performance.now() - startedAt);
      const cells = [ours.toFixed(2), bare.toFixed(2), (ours / bare).toFixed(2)];
      line(['', String(atATime), ...cells]);
    } finally {
      await executor.close();
    }
  }
}

/** Does the work `count` times, so many at a time; gives how often a second.
 *  @param {number} count @param {number} atATime @param {() => Promise<void>} work */
async function rate(count, atATime, work) {
  const startedAt = performance.now();
  let begun = 0;
  const go = async () => {
    for (; begun < count;) {
      begun += 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: atATime }, go));
  return (1000 * count) / (performance.now() - startedAt);
}

/** @param {{ count: number, bytes: number }} size */
function filesOf({ count, bytes }) {
  return new Map(
    Array.from({ length: count }, (_, at) => [`f${at}.bin`, Buffer.alloc(bytes, at + 1)]),
  );
}

/** @param {string} name */
function skillName(name) {
  return name.toLowerCase().replaceAll(' ', '-');
}

async function writeSkills() {
  const root = join(folder, 'skills');
  for (const [title, size] of sizes) {
    const name = skillName(title);
    await mkdir(join(root, name), { recursive: true });
    await writeFile(
      join(root, name, 'SKILL.md'),
      `---\nname: ${name}\ndescription: Holds ${title}\n---\n\nNothing.\n`,
    );
    for (const [file, content] of filesOf(size)) await writeFile(join(root, name, file), content);
  }
  return root;
}
