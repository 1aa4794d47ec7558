/**
 * What the queue costs, in one run with one Redis (AOF, `everysec`) of its own: `npm run bench:queue [-- --full] [parts …]`.
 * Parts: speed, trips, latency, processes, backlog; all of them unless some are named. `--full` drains the backlog of 100,000 turns
 * over 10,000 sessions, else it is a tenth of that. Compare by ratios: the rest is this machine's at this moment.
 *
 * A turn is one call of a model in the process that answers at once; beside it a bare worker of BullMQ returns at once. The ways
 * take turns, so that whatever else the machine does meets all of them.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atATime, drainBare, drainOurs, enqueueTurns, startOurs } from './queue/drain.js';
import { measureFirstByte } from './queue/first-byte.js';
import { modelMs, rateOfProcesses, turnsAtATime } from './queue/processes.js';
import { PrivateRedis } from './queue/redis.js';
import { roundTripsOf } from './queue/round-trips.js';
import { line } from './sandbox/figures.js';

const rounds = 3;
const concurrency = 16;
const turnsPerRound = 2200;
const bareJobs = 20_000;
const turnsPerSession = 10;
const fewSessions = 100;

const args = process.argv.slice(2);
const manySessions = args.includes('--full') ? 10_000 : 1000;
const asked = args.filter((arg) => !arg.startsWith('--'));
const folder = await mkdtemp(join(tmpdir(), 'skillmill-bench-'));
const redis = await PrivateRedis.start(folder);
/** @type {Record<string, () => Promise<void>>} */
const parts = { speed, trips, latency, processes, backlog };
try {
  for (const [name, measure] of Object.entries(parts)) {
    if (asked.length === 0 || asked.includes(name)) await measure();
  }
} finally {
  await redis.stop();
  await rm(folder, { recursive: true, force: true });
}

async function speed() {
  line([`${concurrency} at a time, a backlog`, 'a second', 'CPU ms each', 'of Redis, ms']);
  const ratios = [];
  for (let round = 0; round < rounds; round += 1) {
    const load = { turns: turnsPerRound, sessions: turnsPerRound, concurrency };
    const bare = await drainBare(redis, { jobs: bareJobs, concurrency });
    const ours = await drainOurs(redis, load);
    for (const [name, { perSecond, cpuMs, redisCpuMs }] of Object.entries({ bare, ours })) {
      line([name, perSecond.toFixed(0), cpuMs.toFixed(2), redisCpuMs.toFixed(2)]);
    }
    ratios.push(ours.perSecond / bare.perSecond);
  }
  bar('ours / bare BullMQ', median(ratios).toFixed(2), 'at least 0.33');
}

/** With a backlog, of turns that come one after the other, so that nothing waits and nothing renews. */
async function trips() {
  const turns = 200;
  const data = await redis.empty();
  await enqueueTurns(redis.url, data, turns * 2, turns * 2);
  let done = 0;
  let onDone = () => {};
  // The first half is not counted: what a worker does as it starts is not a turn's.
  const half = () => new Promise((resolve) => (onDone = () => resolve(undefined)));
  let counting = half();
  const worker = await startOurs(redis, data, atATime(1), () => {
    done += 1;
    if (done % turns === 0) onDone();
  });
  await counting;
  counting = half();
  const before = await redis.calls();
  const { bullmq, ours } = await roundTripsOf(redis.client, () => counting);
  const after = await redis.calls();
  await worker.drain();
  line([`commands a turn, of ${turns} turns`, 'sent']);
  for (const [side, counts] of Object.entries({ BullMQ: bullmq, ours })) {
    for (const [name, count] of counts) line([`${side}: ${name}`, (count / turns).toFixed(2)]);
  }
  const all = [...after].map(([name, count]) => count - (before.get(name) ?? 0));
  line(['server’s work, within scripts too', (sum(all) / turns).toFixed(0)]);
  bar('BullMQ’s own', (sum(bullmq.values()) / turns).toFixed(2), '1 with a backlog');
  bar('beyond them', (sum(ours.values()) / turns).toFixed(2), 'at most 8');
}

async function latency() {
  const figures = await measureFirstByte(redis, 300);
  figures.print('enqueue called to first byte');
  const [p50, p99] = [0.5, 0.99].map((share) =>
    figures.percentile('enqueue called to first byte', share).toFixed(1),
  );
  bar('first byte, ms', `${p50} and ${p99}`, 'p50 under 5, p99 under 25, idle machine');
}

async function processes() {
  line([`worker processes, model of ${modelMs} ms`, 'turns a second', 'of what is possible']);
  const rates = [];
  for (const count of [1, 2, 4]) {
    const rate = await rateOfProcesses(redis, count);
    const possible = (count * turnsAtATime * 1000) / modelMs;
    rates.push(rate / count);
    line([String(count), rate.toFixed(1), (rate / possible).toFixed(3)]);
  }
  const [one = 1, ...more] = rates;
  const efficiency = more.map((rate) => (rate / one).toFixed(3)).join(' and ');
  bar('efficiency of 2 and 4', efficiency, 'at least 0.95');
}

/** Sessions of the same length: a session's history is read by each of its turns. */
async function backlog() {
  line(['a backlog', 'turns a second', 'CPU ms each', 'of Redis, ms']);
  const drain = async (/** @type {number} */ sessions) => {
    const load = { turns: sessions * turnsPerSession, sessions, concurrency };
    const { perSecond, cpuMs, redisCpuMs } = await drainOurs(redis, load);
    const name = `${load.turns} turns over ${sessions} sessions`;
    line([name, perSecond.toFixed(0), cpuMs.toFixed(2), redisCpuMs.toFixed(2)]);
    return perSecond;
  };
  await drain(fewSessions); // to get warm
  const few = [await drain(fewSessions)];
  const many = await drain(manySessions);
  few.push(await drain(fewSessions), await drain(fewSessions));
  bar(`${manySessions} / ${fewSessions} sessions`, (many / median(few)).toFixed(2), 'about 1');
}

/** @param {string} name @param {string} value @param {string} wanted */
function bar(name, value, wanted) {
  console.log(`${name}: ${value} (bar: ${wanted})\n`);
}

/** @param {Iterable<number>} values */
function sum(values) {
  return [...values].reduce((total, value) => total + value, 0);
}

/** @param {number[]} values */
function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
