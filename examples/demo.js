/**
 * One turn, end to end: starts a worker (a process of its own), enqueues "summarise this text file", shows each
 * step, and prints the file that the skill's script wrote. `npm run demo` finds or starts Redis first.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoMessage, demoScript } from './demo-script.js';
import { startScriptedModel } from './scripted-model.js';

const root = join(import.meta.dirname, '..');
const skillmill = join(root, 'dist', 'skillmill.js');

const environment = { ...process.env };
const folder = await mkdtemp(join(tmpdir(), 'skillmill-demo-'));
const hasKey = (environment['OPENAI_API_KEY'] ?? '') !== '';
const model = hasKey ? undefined : await startScriptedModel(demoScript);

environment['REDIS_URL'] = demoRedis();
environment['SKILLS_ROOT'] = join(root, 'examples', 'skills');
environment['SKILLMILL_DATA_DIR'] = join(folder, 'data');
environment['SKILLMILL_LOG_LEVEL'] ??= 'warn';
if (model === undefined) environment['OPENAI_MODEL'] ??= 'gpt-4o-mini';
else {
  environment['OPENAI_BASE_URL'] = model.baseUrl;
  environment['OPENAI_MODEL'] = 'scripted';
}

say(`redis     ${environment['REDIS_URL'].replace(/\/\/[^@/]*@/, '//***@')}`);
say(
  `executor  ${environment['SKILLMILL_EXECUTOR'] ?? 'docker'}${because(environment['SKILLMILL_EXECUTOR_WHY'])}`,
);
say(
  model === undefined
    ? `model     ${environment['OPENAI_MODEL']}: OPENAI_API_KEY is set`
    : 'model     scripted: OPENAI_API_KEY is not set',
);

const worker = spawn(process.execPath, [skillmill, 'worker'], {
  env: environment,
  stdio: ['ignore', 'ignore', 'inherit'],
});
try {
  const out = join(folder, 'out');
  const turn = spawn(
    process.execPath,
    [
      skillmill,
      'run',
      demoMessage,
      '--file',
      join(root, 'examples', 'user-notes.txt'),
      '--out',
      out,
      '--timeout',
      '300',
    ],
    { env: environment, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  // A worker that cannot start would leave the turn waiting for ever.
  worker.once('exit', (code) => {
    if (code !== 0) turn.kill();
  });
  const code = await exitOf(turn);
  if (code === 0) {
    const summary = join('out', 'user-notes-summary.txt');
    say(`\n--- ${summary}, as the skill's script wrote it ---`);
    process.stdout.write(await readFile(join(out, summary), 'utf8'));
  }
  process.exitCode = code;
} finally {
  if (worker.exitCode === null && worker.signalCode === null) {
    worker.kill('SIGTERM');
    await exitOf(worker);
  }
  await model?.close();
  await rm(join(folder, 'data'), { recursive: true, force: true });
}

/** A Redis that others use is shared by database: the demo's worker must not take their turns. */
function demoRedis() {
  const url = new URL(environment['REDIS_URL'] ?? 'redis://127.0.0.1:6379');
  const isOurs = environment['SERVICES_REDIS_PID'] !== undefined;
  if (!isOurs && url.pathname.length <= 1) url.pathname = '/13';
  return url.href;
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<number>}
 */
async function exitOf(child) {
  await once(child, 'exit');
  return child.exitCode ?? 1;
}

/** @param {string} line */
function say(line) {
  process.stderr.write(`${line}\n`);
}

/** @param {string | undefined} why */
function because(why) {
  return why === undefined || why === '' ? '' : `: ${why}`;
}
