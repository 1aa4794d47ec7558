import { afterAll, beforeAll, expect, it } from 'vitest';
import { turnsOf } from '../../support/skill-turns.js';
import { openWorld, runs, type World } from '../../support/world.js';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

it('runs allowed programs without a shell, and no others [run-policy]', async () => {
  const refused: [string, RegExp, Record<string, unknown>?][] = [
    ['rm -rf x', /not in the operator's allowed_commands/],
    ['ls; id', /";"/],
    ['ls | cat', /"\|"/],
    ['ls > x', /">"/],
    ['echo $(id)', /"\$"/],
    ['echo "`id`"', /"`"/],
    ['ls\nid', /only a shell/],
    ['/bin/ls', /not in the operator's/],
    ['./ls', /not in the operator's/],
    ['scripts/own.sh', /own folder/, { cwd: '$WORK_DIR' }],
    ['cat "x', /never closed/],
    ['ls', /env PATH/, { env: { PATH: '/tmp' } }],
    ['ls', /env EDITOR/, { env: { EDITOR: 'sh -c id' } }],
    ['ls', /env BASH_ENV/, { env: { BASH_ENV: '/tmp/x' } }],
    ['ls', /env LD_PRELOAD/, { env: { LD_PRELOAD: '/tmp/x' } }],
  ];
  const { results, requests } = await turnsOf(
    world,
    { TRPC_AGENT_SKILL_RUN_ALLOWED_COMMANDS: 'echo, ls cat tee mkdir,chmod,scripts/own.sh' },
    'restricted',
    [
      [
        runs(`echo 'a;b' "c d" e\\ f '*' --`),
        runs('cat', { stdin: 'fed' }),
        // What a command plants in the skill's environment does not stand for the program that is allowed.
        runs('mkdir .venv/bin'),
        runs('tee .venv/bin/ls', { stdin: '#!/bin/sh\necho planted' }),
        runs('chmod 755 .venv/bin/ls'),
        runs('ls .venv/bin'),
        ...refused.map(([command, , more]) => runs(command, more)),
        { text: 'done' },
      ],
    ],
  );
  const calls = results[0]?.toolCalls ?? [];
  expect(calls[0]?.result).toMatchObject({ stdout: 'a;b c d e f * --\n', exit_code: 0 });
  expect(calls[1]?.result).toMatchObject({ stdout: 'fed' });
  expect(calls[5]?.result).toMatchObject({ stdout: 'ls\n', exit_code: 0 });
  for (const [index, [command, why]] of refused.entries()) {
    expect(calls[index + 6]?.error?.message, command).toMatch(why);
  }
  expect(JSON.stringify(requests[0]?.messages[0])).toContain('without a shell');
});

it('runs all but the denied programs, by name only [run-policy]', async () => {
  const { results } = await turnsOf(world, { SKILLMILL_DENIED_COMMANDS: 'rm' }, 'denied', [
    [runs('rm x'), runs('/bin/rm x'), runs("'r'm x"), runs('echo yes'), { text: 'done' }],
  ]);
  const [plain, path, hidden, other] = results[0]?.toolCalls ?? [];
  expect(plain?.error?.message).toMatch(/denied/);
  expect(path?.error?.message).toMatch(/is a path/);
  expect(hidden?.error?.message).toMatch(/denied/);
  expect(other?.result).toMatchObject({ stdout: 'yes\n' });
});
