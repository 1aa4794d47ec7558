import { mkdir, readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { turnResultSchema } from '../../../src/shared/contracts/index.js';
import { freePort } from '../../support/redis-server.js';
import { tempDir } from '../../support/temp-dir.js';
import type { WorkerProcess } from '../../support/cli.js';
import { lastToolResult, openWorld, runs, type World } from '../../support/world.js';

const key = 'sk-SECRET-KEY-OF-THE-OPERATOR';
let world: World;
let worker: WorkerProcess;
beforeAll(async () => {
  world = await openWorld({
    OPENAI_API_KEY: key,
    SKILLMILL_SANDBOX_DISK_MB: '16',
    SKILLMILL_SANDBOX_MEMORY_MB: '128',
  });
  worker = await world.worker();
});
afterAll(async () => {
  // Whatever a turn held, it has not taken the worker with it.
  expect(worker.child.exitCode).toBeNull();
  expect(worker.log()).not.toContain(key);
  await world.close();
});

async function resultOf(message: string, args: readonly string[] = []) {
  const outcome = await world.run(['run', message, '--json', ...args]);
  return turnResultSchema.parse(JSON.parse(outcome.stdout));
}

describe('a model that misbehaves', () => {
  it('does not end a worker with deeply nested arguments [hostile-model]', async () => {
    const deep = '['.repeat(50_000) + ']'.repeat(50_000);
    world.script('go deep', [
      { calls: [{ name: 'skill_run', arguments: deep }] },
      { text: 'came back' },
    ]);
    const result = await resultOf('go deep');
    expect(result).toMatchObject({ status: 'completed', output: 'came back', attempts: 1 });
    expect(result.toolCalls[0]?.error).toMatchObject({ code: 'TOOL_INPUT_INVALID' });
  });

  it('keeps a result readable whatever usage says [hostile-model]', async () => {
    const body = (tokens: unknown) =>
      JSON.stringify({
        choices: [{ message: { role: 'assistant', content: 'counted' } }],
        usage: { prompt_tokens: tokens, completion_tokens: -3 },
      });
    for (const tokens of [12.5, 1e300, 'many', null]) {
      world.script('count oddly', [{ body: body(tokens) }]);
      expect(await resultOf('count oddly')).toMatchObject({
        status: 'completed',
        output: 'counted',
      });
    }
  });

  it('answers bad names and arguments, and sends a history that strict servers take [hostile-model]', async () => {
    world.script('call nonsense', [
      {
        calls: [
          { name: 'bad name!\n\u001b]0;title\u0007', arguments: '{not json' },
          { name: 'skill_load', arguments: { skill_name: '../../etc' } },
          { name: 'skill_load', arguments: { skill_name: '__proto__' } },
          { name: 'skill_run', arguments: { skill: 'constructor', command: 'true' } },
          { name: 'skill_run', arguments: 'null' },
          { name: 'skill_list', arguments: '' },
        ],
      },
      { text: 'still here' },
    ]);
    const outcome = await world.run(['run', 'call nonsense']);
    expect(outcome).toMatchObject({ code: 0, stdout: 'still here\n' });
    expect(outcome.stderr).not.toContain('\u001b');
    const sent = world.model.requests.at(-1)?.messages.find((message) => message.tool_calls);
    for (const call of sent?.tool_calls ?? []) {
      expect(call.function.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(() => JSON.parse(call.function.arguments) as unknown).not.toThrow();
    }
    expect(world.model.faults).toEqual([]);
  });

  it('never shows the operator’s key, not even half of it [secrets]', async () => {
    const message = `${'x'.repeat(480)} ${key}`;
    world.script('be refused', [{ status: 401, body: JSON.stringify({ error: { message } }) }]);
    const outcome = await world.run(['run', 'be refused', '--json']);
    expect(outcome.code).toBe(1);
    expect(outcome.stdout + outcome.stderr).not.toContain('sk-SEC');
    for (const name of await world.redis.keys('skillmill:*')) {
      const type = await world.redis.type(name);
      const held =
        type === 'hash'
          ? await world.redis.hgetall(name)
          : type === 'list'
            ? await world.redis.lrange(name, 0, -1)
            : [];
      expect(JSON.stringify(held)).not.toContain('sk-SEC');
    }
    const url = `redis://:p@ss/word@127.0.0.1:${await freePort()}`;
    const away = await world.run(['enqueue', 'hello'], { REDIS_URL: url });
    expect(away.stderr).not.toMatch(/p@ss|ss\/word/);
  });
});

describe('a command that misbehaves', () => {
  it('cannot hold the worker up with a costly glob [hostile-command]', async () => {
    const name = 'a'.repeat(60);
    world.script('match for ever', [
      runs(`touch "$OUTPUT_DIR/${name}!"`, {
        output_files: ['out/+([a-z]|[a-c])b', 'out/(a+)+b', `out/${'*a'.repeat(20)}b`, 'out/['],
      }),
      { text: 'matched' },
    ]);
    expect(await resultOf('match for ever')).toMatchObject({ output: 'matched', attempts: 1 });
  });

  it('does not leave a skill half staged after a full disk [hostile-command]', async () => {
    world.script('fill the disk', [
      runs('head -c 30000000 /dev/zero > "$WORK_DIR/fill"; true'),
      {
        calls: [
          {
            name: 'skill_run',
            arguments: { skill: 'python-math', command: 'python3 scripts/fib.py 5' },
          },
        ],
      },
      runs('rm "$WORK_DIR/fill"'),
      {
        calls: [
          {
            name: 'skill_run',
            arguments: { skill: 'python-math', command: 'python3 scripts/fib.py 5' },
          },
        ],
      },
      (request) => ({ text: String(lastToolResult(request)['stdout']) }),
    ]);
    const result = await resultOf('fill the disk');
    expect(result.output).toContain('3');
    expect(result.attempts).toBe(1);
  });

  it('cannot fail its turn by taking its folders away [hostile-command]', async () => {
    world.script('lock the folders', [
      runs('chmod 000 "$WORKSPACE_DIR/runs"; chmod 000 "$OUTPUT_DIR"; true'),
      runs('echo still running'),
      { text: 'went on' },
    ]);
    const result = await resultOf('lock the folders');
    expect(result).toMatchObject({ status: 'completed', output: 'went on', attempts: 1 });
  });

  it('brings files with odd names, and the others too [hostile-command]', async () => {
    const out = join(await tempDir(), 'got');
    await mkdir(out);
    world.script('odd names', [
      runs(
        `cd "$OUTPUT_DIR"; echo 1 > a; echo 2 > $'b\\nskillmill: forged'; echo 3 > 'c\\d'; echo 4 > -z; echo 5 > ünï`,
      ),
      { text: 'named' },
    ]);
    const outcome = await world.run(['run', 'odd names', '--out', out]);
    expect(outcome.code).toBe(0);
    expect(outcome.stderr).not.toMatch(/^skillmill: forged/m);
    expect((await readdir(join(out, 'out'))).sort()).toEqual(
      ['a', 'b%0Askillmill: forged', 'c%5Cd', '-z', 'ünï'].sort(),
    );
    expect(await readFile(join(out, 'out', '-z'), 'utf8')).toBe('4\n');
  });
});
