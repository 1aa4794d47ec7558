import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startScriptedModel } from '../../../examples/scripted-model.js';
import { createClient, type TurnEvent } from '../../../src/producer/index.js';
import { cli, projectDir } from '../../support/cli.js';
import { engineAnswers, socketGroup } from '../../support/docker.js';
import { freePort } from '../../support/redis-server.js';

const run = promisify(execFile);
const project = `skillmill-test-${process.pid}`;
const [command = 'docker-compose', ...prefix] = (
  process.env['SERVICES_COMPOSE'] ?? 'docker-compose'
).split(' ');

const hasEngine = await engineAnswers();

describe.runIf(hasEngine)('the compose file', () => {
  let model: Awaited<ReturnType<typeof startScriptedModel>>;
  let env: Record<string, string>;
  const compose = (...args: string[]) =>
    run(command, [...prefix, '-p', project, ...args], { cwd: projectDir, env });

  beforeAll(async () => {
    model = await startScriptedModel(
      () => [
        {
          calls: [
            {
              name: 'skill_run',
              arguments: { skill: 'python-math', command: 'sleep 1; python3 scripts/fib.py 10' },
            },
          ],
        },
        { text: 'computed' },
      ],
      { host: '0.0.0.0' },
    );
    env = {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '/',
      SKILLMILL_REDIS_PORT: String(await freePort()),
      OPENAI_BASE_URL: `http://host.docker.internal:${model.port}/v1`,
      OPENAI_MODEL: 'scripted',
      DOCKER_GID: String(await socketGroup()),
    };
    await compose('config', '-q');
    await compose('up', '-d', '--no-build', '--scale', 'worker=2');
  });
  afterAll(async () => {
    await compose('down', '-v', '--timeout', '20');
    await model.close();
  });

  it('runs turns on two workers that share one Redis [compose]', async () => {
    const redisUrl = `redis://127.0.0.1:${env['SKILLMILL_REDIS_PORT'] ?? ''}`;
    const outcome = await cli(['run', 'hello'], { REDIS_URL: redisUrl });
    expect(outcome).toMatchObject({ code: 0, stdout: 'computed\n' });
    expect(outcome.stderr).toContain('0 1 1 2 3 5 8 13 21 34'.split(' ').at(-1));

    const client = createClient({ redisUrl });
    const turns = await Promise.all(
      Array.from({ length: 12 }, () => client.enqueue({ input: 'hello again' })),
    );
    const workers = new Set<string>();
    for (const { turnId } of turns) {
      const events: TurnEvent[] = [];
      for await (const event of client.events(turnId)) events.push(event);
      for (const event of events) if (event.type === 'turn.started') workers.add(event.workerId);
      expect(events.at(-1)).toMatchObject({ type: 'turn.completed' });
    }
    await client.close();
    expect(workers.size).toBe(2);
  });
});
