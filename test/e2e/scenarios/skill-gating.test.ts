import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, load, turnsOf } from '../../support/skill-turns.js';
import { tempDir } from '../../support/temp-dir.js';
import { openWorld, type World } from '../../support/world.js';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const secret = 's3cret-tok/en "quoted"';

/** A folder with skills, each of its own metadata, and a config file. */
async function operatorsFolder(
  skills: Readonly<Record<string, unknown>>,
  config: string,
  ending = 'json',
) {
  const dir = await tempDir();
  for (const [name, metadata] of Object.entries(skills)) {
    const file = join(dir, 'skills', name, 'SKILL.md');
    await mkdir(dirname(file), { recursive: true });
    const front = `name: ${name}\ndescription: d\nmetadata: ${JSON.stringify(metadata)}`;
    await writeFile(file, `---\n${front}\n---\nBody of ${name}\n`);
  }
  const configFile = join(dir, `operator.${ending}`);
  await writeFile(configFile, config);
  return { dir, env: { SKILLS_ROOT: join(dir, 'skills'), SKILLMILL_CONFIG: configFile } };
}

const printing = (command: string, env: Record<string, string> = {}) =>
  call('skill_run', { skill: 'keyed', command, env });

describe('a skill’s environment', () => {
  it('is the operator’s, below the call’s, and is never shown [skill-environment]', async () => {
    const config = { env: { TOKEN: { fromEnv: 'MY_TOKEN' }, PLAIN: 'xy' }, apiKey: 'key-of-keyed' };
    const { env } = await operatorsFolder(
      { keyed: { primary_env: 'KEYED_API_KEY' }, other: {} },
      JSON.stringify({ skills: { entries: { keyed: config } } }),
    );
    const half = '${TOKEN:0:9}';
    const { results, log, requests } = await turnsOf(
      world,
      { ...env, MY_TOKEN: secret },
      'environment',
      [
        [
          printing('echo ${#TOKEN} $PLAIN ${#KEYED_API_KEY}'),
          printing(`printf %s "${half}"; sleep 0.4; echo "\${TOKEN:9}"; echo "$TOKEN" >&2`),
          printing(
            'printf %s "$TOKEN" > "$WORK_DIR/t"; cat /proc/[0-9]*/cmdline | grep -acFf "$WORK_DIR/t"',
          ),
          printing('echo "$TOKEN"', { TOKEN: 'of the call' }),
          call('skill_run', { skill: 'other', command: 'echo "[$TOKEN]"' }),
          call('no_such_tool', {}),
          { text: `it ended` },
        ],
      ],
    );
    const outputs = results[0]?.toolCalls.map(({ result }) => result as { stdout: string });
    expect(outputs?.[0]?.stdout).toBe(`${secret.length} xy 12\n`);
    expect(outputs?.[1]).toMatchObject({ stdout: '[redacted]\n', stderr: '[redacted]\n' });
    expect(outputs?.[2]?.stdout).toBe('0\n');
    expect(outputs?.[3]?.stdout).toBe('of the call\n');
    expect(outputs?.[4]?.stdout).toBe('[]\n');
    const turnId = results[0]?.turnId ?? '';
    const events = await world.run(['watch', turnId, '--json']);
    const told = JSON.stringify([results, requests, log, events]);
    expect(told).not.toContain('s3cret');
    expect(told).not.toContain('key-of-keyed');
    expect(events.stdout).toContain('[redacted]');
  });
});

describe('what a skill requires', () => {
  it('is looked up in the sandbox’s image and the operator’s config [skill-gating]', async () => {
    const openclaw = (requires: unknown) => ({ openclaw: { requires } });
    const { dir, env } = await operatorsFolder(
      {
        'has-all': openclaw({ bins: ['bash', 'tar'], anyBins: ['no-such', 'sed'], env: ['A'] }),
        'lacks-bin': { requires: { bins: ['bash', 'no-such-program'] } },
        'lacks-any': openclaw({ anyBins: ['no-such-1', 'no-such-2'] }),
        'lacks-env': { requires: { env: ['A', 'NOT_SET'] } },
        'other-os': { os: ['win32'] },
        'host-only': { requires: { bins: ['only-on-the-host'] } },
        hostile: { requires: { bins: ['$(touch /tmp/x)', '--help', 'a/../b'] } },
        always: { always: true, requires: { bins: ['no-such-program'] } },
        'switched-off': { always: true },
      },
      JSON.stringify({
        skills: {
          entries: {
            'has-all': { env: { A: '1' } },
            'lacks-env': { env: { A: '1' } },
            'switched-off': { enabled: false },
            'not-there': {},
          },
        },
      }),
    );
    const program = join(dir, 'only-on-the-host');
    await writeFile(program, '#!/bin/sh\n');
    await chmod(program, 0o755);
    const PATH = `${process.env['PATH'] ?? ''}:${dir}`;
    const refused = ['lacks-bin', 'lacks-any', 'lacks-env', 'other-os', 'hostile', 'switched-off'];
    if (world.executor === 'docker') refused.push('host-only');
    const { results, requests, log } = await turnsOf(world, { ...env, PATH }, 'gating', [
      [...refused.map((name) => load(name)), load('has-all'), load('always'), { text: 'done' }],
    ]);
    const calls = results[0]?.toolCalls ?? [];
    const errors = calls.map(({ error }) => error);
    expect(errors.slice(-2)).toEqual([null, null]);
    for (const error of errors.slice(0, -2)) expect(error?.code).toBe('SKILL_UNAVAILABLE');
    const told = errors.map((error) => error?.message ?? '').join('\n');
    expect(told).toContain('the sandbox’s image lacks "no-such-program"');
    expect(told).toContain('has none of "no-such-1", "no-such-2"');
    expect(told).toContain('the operator’s config does not set "NOT_SET"');
    expect(told).toContain('switched-off is disabled by the operator');
    const system = String(requests[0]?.messages[0]?.content);
    for (const name of refused) expect(system).not.toContain(`- ${name}:`);
    expect(system).toContain('- has-all: d');
    expect(log).toContain('a skill cannot be used here');
    expect(log).toContain('the config file names a skill that is not there');
    await world.noSandboxLeft();
  });

  it('may be filtered for each turn; what is hidden is as missing [skill-gating]', async () => {
    const module = `export default {
      skills: { isVisible: (skill, turn) => skill.name !== 'hidden' || turn.sessionId === 'pro' },
    };`;
    const { env } = await operatorsFolder({ hidden: {}, seen: {} }, module, 'mjs');
    const worker = await world.worker(env);
    world.script('plan', [load('hidden'), { text: 'done' }]);
    const turn = async (session: string) => {
      const { stdout } = await world.run(['run', 'plan', '--json', '--session', session]);
      const { toolCalls } = JSON.parse(stdout) as { toolCalls: { error: unknown }[] };
      return toolCalls[0]?.error;
    };
    expect(await turn('free')).toMatchObject({ code: 'SKILL_NOT_FOUND' });
    expect(await turn('pro')).toBeNull();
    await worker.end();
  });
});

describe('a wrong config file', () => {
  it('is refused at the start, all faults at once and no value [skill-environment]', async () => {
    const entries = { a: { env: { LD_PRELOAD: 's3cret', OK: { fromEnv: 'NOT_SET' } }, on: true } };
    const wrong = await operatorsFolder({}, JSON.stringify({ skills: { entries } }));
    const shape = await world.run(['worker'], wrong.env);
    expect(shape).toMatchObject({ code: 2 });
    expect(shape.stderr).toContain('skills.entries.a.on: is not a known field');
    await writeFile(
      wrong.env.SKILLMILL_CONFIG,
      JSON.stringify({ skills: { entries: { a: { env: entries.a.env } } } }),
    );
    const values = await world.run(['worker'], wrong.env);
    expect(values).toMatchObject({ code: 2 });
    expect(values.stderr).toContain('env.LD_PRELOAD: would change what programs load or run');
    expect(values.stderr).toContain('env.OK: names a variable that is not set');
    expect(shape.stderr + values.stderr).not.toContain('s3cret');
  });
});
