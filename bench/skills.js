/**
 * How long the index of 1,000 and of 10,000 skills takes, cold, warm and after one change, and the memory that it adds:
 * `npm run bench:skills`. Each size runs in a process of its own, so that neither pays for the other's memory. "Cold" is
 * the first look of a process; the files were just written, so the system holds them in its cache. CPU time is of all
 * threads; on a machine that does other work as well it says more than the clock.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openSkillRepository } from '../dist/shared/skills/skill-repository.js';

/**
 * @typedef {object} Figures
 * @property {number} coldMs
 * @property {number} coldCpuMs
 * @property {number} warmP50Ms
 * @property {number} warmP99Ms
 * @property {number} changeMs median of the changes, from the change to the new snapshot
 * @property {number} changeCpuMs
 * @property {number} rssMiB
 */

const sizes = [1_000, 10_000];
const warmLooks = 2_000;
const changes = 3;

const [size] = process.argv.slice(2);
if (size === undefined) await compare();
else process.stdout.write(JSON.stringify(await measure(Number(size))));

async function compare() {
  /** @type {Figures[]} */
  const figures = [];
  for (const each of sizes) figures.push(await measureApart(each));
  const labels = [...sizes.map((each) => `${each} skills`), 'ratio'];
  print('', labels);
  print('cold, ms', row(figures, 'coldMs', 0));
  print('cold, CPU ms', row(figures, 'coldCpuMs', 0));
  print('warm p50, ms', row(figures, 'warmP50Ms', 3));
  print('warm p99, ms', row(figures, 'warmP99Ms', 3));
  print('change, ms', row(figures, 'changeMs', 0));
  print('change, CPU ms', row(figures, 'changeCpuMs', 0));
  print('RSS added, MiB', row(figures, 'rssMiB', 1));
}

/** @param {number} count @returns {Promise<Figures>} */
async function measureApart(count) {
  const self = fileURLToPath(import.meta.url);
  const args = ['--expose-gc', self, String(count)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  /** @type {Figures} */
  const figures = JSON.parse(stdout);
  return figures;
}

/** @param {number} count @returns {Promise<Figures>} */
async function measure(count) {
  const folder = await mkdtemp(join(tmpdir(), 'skillmill-bench-'));
  try {
    for (let at = 0; at < count; at++) writeSkill(folder, at, 'first');
    await sleep(200); // a file that changed just now is read twice
    return await measureIndex(folder, count);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param {string} folder @param {number} count @returns {Promise<Figures>} */
async function measureIndex(folder, count) {
  const before = residentMiB();
  const repository = openSkillRepository([folder]);
  try {
    const cold = await timed(() => repository.snapshot());
    const first = cold.result;
    if (first.skills.length !== count) throw new Error(`${first.skills.length} skills were found`);
    // The second look makes sure of what changed while the watch began.
    for (let look = 0; look < 3; look++) await repository.snapshot();
    const rssMiB = residentMiB() - before;
    /** @type {number[]} */
    const warm = [];
    for (let look = 0; look < warmLooks; look++) {
      warm.push((await timed(() => repository.snapshot())).ms);
    }
    /** @type {{ ms: number, cpuMs: number }[]} */
    const changed = [];
    for (let change = 0; change < changes; change++) {
      writeSkill(folder, change, 'second');
      const look = await timed(() => repository.snapshot());
      const seen = look.result.skills[change]?.digest !== first.skills[change]?.digest;
      if (!seen) throw new Error('a change was not seen');
      changed.push(look);
    }
    return {
      coldMs: cold.ms,
      coldCpuMs: cold.cpuMs,
      warmP50Ms: median(warm),
      warmP99Ms: quantile(warm, 0.99),
      changeMs: median(changed.map(({ ms }) => ms)),
      changeCpuMs: median(changed.map(({ cpuMs }) => cpuMs)),
      rssMiB,
    };
  } finally {
    await repository.close();
  }
}

/** A skill of three files and 4 KiB, as most are. @param {string} folder @param {number} at @param {string} word */
function writeSkill(folder, at, word) {
  const name = `skill-${String(at).padStart(6, '0')}`;
  const dir = join(folder, name);
  mkdirSync(join(dir, 'scripts'), { recursive: true });
  const front = `---\nname: ${name}\ndescription: The ${word} text of skill ${at}. Use when it is asked for.\n---\n`;
  const body = `# ${name}\n\nTools:\n- tool_${at}\n\n${'Some lines of instructions.\n'.repeat(80)}`;
  writeFileSync(join(dir, 'SKILL.md'), front + body);
  writeFileSync(join(dir, 'reference.md'), `# Reference\n\n${'More to read.\n'.repeat(80)}`);
  writeFileSync(join(dir, 'scripts', 'run.sh'), `#!/bin/sh\necho ${at}\n`, { mode: 0o755 });
}

/** @template T @param {() => Promise<T>} work @returns {Promise<{ ms: number, cpuMs: number, result: T }>} */
async function timed(work) {
  const started = performance.now();
  const cpu = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(cpu);
  return { ms: performance.now() - started, cpuMs: (user + system) / 1000, result };
}

function residentMiB() {
  globalThis.gc?.();
  return process.memoryUsage.rss() / 1024 / 1024;
}

/** @param {readonly number[]} values @param {number} share */
function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** @param {readonly number[]} values */
function median(values) {
  return quantile(values, 0.5);
}

/** @param {readonly Figures[]} figures @param {keyof Figures} key @param {number} digits */
function row(figures, key, digits) {
  const values = figures.map((each) => each[key]);
  const ratio = (values.at(-1) ?? NaN) / (values[0] ?? NaN);
  return [...values.map((value) => value.toFixed(digits)), `${ratio.toFixed(1)} x`];
}

/** @param {string} label @param {readonly string[]} cells */
function print(label, cells) {
  const line = cells.map((cell) => cell.padStart(14)).join('');
  process.stdout.write(`${label.padEnd(16)}${line}\n`);
}
