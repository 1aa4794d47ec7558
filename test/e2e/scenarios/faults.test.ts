import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { turnResultSchema } from '../../../src/shared/contracts/index.js';
import { cli } from '../../support/cli.js';
import { freePort, startRedis } from '../../support/redis-server.js';
import { lastToolResult, openWorld, runs, type World } from '../../support/world.js';

let world: World;
beforeAll(async () => {
  world = await openWorld();
  await world.worker();
  world.script('are you there', [{ text: 'yes' }]);
});
afterAll(() => world.close());

/** The keys of turns and sessions; a worker's own come and go at any time. */
async function knownTurns(): Promise<string[]> {
  const keys = await world.redis.keys('skillmill:{*:*}:*');
  return keys.sort();
}

/** Each fault leaves no sandbox behind, and a worker that takes the next turn. */
async function nextTurnWorks(): Promise<void> {
  await world.noSandboxLeft();
  expect(await world.run(['run', 'are you there'])).toMatchObject({ code: 0, stdout: 'yes\n' });
}

async function resultOf(args: readonly string[]) {
  const outcome = await world.run([...args, '--json']);
  return { code: outcome.code, result: turnResultSchema.parse(JSON.parse(outcome.stdout)) };
}

describe('a turn whose step goes wrong', () => {
  it('tells a failed command to the model [command-fails, no-sandbox-left]', async () => {
    world.script('fail please', [
      runs('echo some output; echo some trouble >&2; exit 7'),
      (request) => ({ text: JSON.stringify(lastToolResult(request)) }),
    ]);
    const { code, result } = await resultOf(['run', 'fail please']);
    expect(code).toBe(0);
    expect(JSON.parse(result.output)).toMatchObject({
      exit_code: 7,
      stdout: 'some output\n',
      stderr: 'some trouble\n',
      timed_out: false,
    });
    await nextTurnWorks();
  });

  it('kills a command past its time with all it started [command-timeout, no-sandbox-left]', async () => {
    world.script('take too long', [
      runs("trap '' TERM; echo begun; setsid sleep 302 & sleep 301 & while :; do :; done", {
        timeout: 1,
      }),
      runs('ps -eo args | grep -c "[s]leep 30" || true'),
      (request) => ({ text: String(lastToolResult(request)['stdout']).trim() }),
    ]);
    const { code, result } = await resultOf(['run', 'take too long']);
    expect(code).toBe(0);
    const [timedOut] = result.toolCalls;
    expect(timedOut?.error).toMatchObject({ code: 'COMMAND_TIMEOUT' });
    expect(timedOut?.result).toMatchObject({ timed_out: true, stdout: 'begun\n' });
    expect(result.output).toBe('0');
    await nextTurnWorks();
  });

  it('fails a turn that declares a skill that is not there [skill-missing]', async () => {
    const before = world.model.requests.length;
    const { code, result } = await resultOf([
      'run',
      'never asked',
      '--skill',
      'user-file-op',
      '--skill',
      'nope',
    ]);
    expect(code).toBe(1);
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'SKILL_NOT_FOUND', retryable: false },
    });
    expect(result.error?.message).toContain('user-file-ops');
    expect(result.error?.message).toContain('nope');
    expect(world.model.requests.length).toBe(before);
    await nextTurnWorks();
  });

  it('answers a hidden skill exactly as a missing one [skill-visibility, skill-missing]', async () => {
    const { createClient } = await import('../../../src/producer/index.js');
    world.script('look for skills', [
      { calls: [{ name: 'skill_list', arguments: {} }] },
      {
        calls: [
          { name: 'skill_load', arguments: { skill_name: 'python-math' } },
          { name: 'skill_run', arguments: { skill: 'python-mathx', command: 'true' } },
          { name: 'no_such_tool', arguments: {} },
        ],
      },
      { text: 'looked' },
    ]);
    const client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
    const { turnId } = await client.enqueue({
      input: 'look for skills',
      allowedSkills: ['file-tools'],
    });
    const result = await client.result(turnId);
    await client.close();
    const [list, hidden, missing, unknown] = result.toolCalls;
    expect(list?.result).toEqual(['file-tools']);
    const masked = (text: string | undefined) => text?.replace(/python-mathx?/, 'NAME');
    expect(hidden?.error?.code).toBe('SKILL_NOT_FOUND');
    expect(masked(hidden?.error?.message)).toBe(masked(missing?.error?.message));
    expect(unknown?.error).toMatchObject({ code: 'TOOL_NOT_FOUND' });
    expect(unknown?.error?.message).toContain('skill_load');
    const request = world.model.requests.find((sent) =>
      sent.messages.some((m) => m.content === 'look for skills'),
    );
    expect(JSON.stringify(request?.messages[0])).not.toContain('python-math');
  });

  it('gives a model up after three failures [model-down]', async () => {
    let calls = 0;
    world.script('the model is down', [
      () => {
        calls += 1;
        return { status: 500, body: '{"error":{"message":"overloaded"}}' };
      },
    ]);
    const { code, result } = await resultOf(['run', 'the model is down', '--session', 'down']);
    expect(code).toBe(1);
    expect(calls).toBe(3);
    expect(result).toMatchObject({
      status: 'failed',
      error: { code: 'MODEL_UNAVAILABLE', retryable: true },
    });
    // The failed turn stays in the history, closed validly: the next one of the session is accepted.
    world.script('go on then', [{ text: 'going on' }]);
    expect(await world.run(['run', 'go on then', '--session', 'down'])).toMatchObject({ code: 0 });
    expect(world.model.faults).toEqual([]);
    await nextTurnWorks();
  });
});

describe('a set-up that is wrong', () => {
  const sentence = /^skillmill: [A-Z_]+: .+\n$/;

  it('exits 3 when Redis is away [redis-away]', async () => {
    const env = { ...world.env, REDIS_URL: `redis://:secret@127.0.0.1:${await freePort()}` };
    for (const args of [['run', 'hello'], ['enqueue', 'hello'], ['worker']]) {
      const outcome = await cli(args, env);
      expect(outcome).toMatchObject({ code: 3, stdout: '' });
      expect(outcome.stderr).toMatch(sentence);
      expect(outcome.stderr).toContain('REDIS_UNAVAILABLE');
      expect(outcome.stderr).not.toContain('secret');
    }
  });

  it('exits 3 when Docker or its image is away [docker-away]', async () => {
    const docker = { ...world.env, SKILLMILL_EXECUTOR: 'docker' };
    const unreachable = { ...docker, DOCKER_HOST: `tcp://127.0.0.1:${await freePort()}` };
    const imageless = { ...docker, SKILLMILL_IMAGE: 'skillmill/no-such-image:1' };
    for (const env of [unreachable, ...(world.executor === 'docker' ? [imageless] : [])]) {
      const outcome = await cli(['worker'], env);
      expect(outcome).toMatchObject({ code: 3, stdout: '' });
      expect(outcome.stderr).toMatch(/skillmill: SANDBOX_UNAVAILABLE: .+\n$/);
      expect(outcome.stderr).not.toMatch(/\n\s+at /);
    }
  });

  it('exits 2 and names every wrong variable [config-wrong]', async () => {
    const outcome = await cli(['worker'], {
      ...world.env,
      SKILLMILL_CONCURRENCY: 'many',
      SKILLMILL_EXECUTOR: 'podman',
      OPENAI_BASE_URL: 'localhost:1234',
    });
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toMatch(sentence);
    for (const part of [
      'SKILLMILL_CONCURRENCY',
      '"many"',
      '1 to 1000',
      'SKILLMILL_EXECUTOR',
      '"podman"',
      'docker or local',
      'OPENAI_BASE_URL',
    ]) {
      expect(outcome.stderr).toContain(part);
    }
    const noModel = await cli(['worker'], { ...world.env, OPENAI_MODEL: '', OPENAI_BASE_URL: '' });
    expect(noModel.code).toBe(2);
    expect(noModel.stderr).toContain('OPENAI_MODEL');
    expect(noModel.stderr).toContain('OPENAI_API_KEY');
  });

  it('exits 2 for wrong usage and wrong requests, and enqueues nothing [usage-wrong]', async () => {
    const turnsBefore = await knownTurns();
    const wrong: [string[], string[]][] = [
      [['run'], ['message']],
      [['fly'], ['fly']],
      [['run', 'hi', '--session', 'a b'], ['sessionId']],
      [
        ['run', 'hi', '--file', '/no/such/file', '--file', '/neither/this'],
        ['/no/such/file', '/neither/this'],
      ],
      [['run', 'hi', '--file', '/etc/hostname:../../x'], ['files[0].path']],
      [
        ['run', 'hi', '--file', 'artifact://out/a'],
        ['files[0].artifact', 'sessionId'],
      ],
      [['result', 'turn_x'], ['turn id']],
      [['result', 'turn_0000000000000000_00000000000000000000'], ['TURN_NOT_FOUND']],
      [['schema', 'nope'], ['turn-request']],
    ];
    for (const [args, parts] of wrong) {
      const outcome = await world.run(args);
      expect(outcome, args.join(' ')).toMatchObject({ code: 2, stdout: '' });
      for (const part of parts) expect(outcome.stderr).toContain(part);
      expect(outcome.stderr).not.toMatch(/\n\s+at /);
    }
    expect(await knownTurns()).toEqual(turnsBefore);
  });

  it('publishes its contracts as JSON Schema [schema-published]', async () => {
    for (const name of ['turn-request', 'turn-result', 'turn-event', 'artifact']) {
      const outcome = await world.run(['schema', name]);
      expect(outcome.code).toBe(0);
      expect(JSON.parse(outcome.stdout)).toHaveProperty('$schema');
    }
  });

  it('refuses a Redis that may evict keys, unless the operator puts up with it [eviction-policy]', async () => {
    const redis = await startRedis(['--maxmemory-policy', 'allkeys-lru']);
    const env = { REDIS_URL: redis.url };
    const outcome = await world.run(['worker'], env);
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toMatch(/allkeys-lru.*noeviction.*SKILLMILL_ALLOW_EVICTION/);
    const worker = await world.worker({ ...env, SKILLMILL_ALLOW_EVICTION: '1' });
    expect(worker.log()).toContain('allkeys-lru');
    expect(await worker.end()).toBe(0);
    await redis.stop();
  });
});
