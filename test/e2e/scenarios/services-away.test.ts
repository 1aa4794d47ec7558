import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, type Client } from '../../../src/producer/index.js';
import { engineAnswers } from '../../support/docker.js';
import { startEngineProxy, type EngineProxy } from '../../support/engine-proxy.js';
import { eventsOf, saidIn } from '../../support/line-turns.js';
import { openWorld, runs, type World } from '../../support/world.js';

const hasEngine = await engineAnswers();

describe.skipIf(!hasEngine)('an engine that goes away in the middle of a turn', () => {
  let world: World;
  let client: Client;
  let engine: EngineProxy;
  beforeAll(async () => {
    engine = await startEngineProxy();
    world = await openWorld({ DOCKER_HOST: engine.host, SKILLMILL_MAX_ATTEMPTS: '2' });
    client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
    await world.worker();
    world.script('quick', [{ text: 'quick answer' }]);
  });
  afterAll(async () => {
    await client.close();
    await world.close();
    await engine.close();
  });

  it('fails the turn with its last error when the tries are spent; its session goes on [service-tries]', async () => {
    world.script('without an engine', [
      () => {
        engine.takeAway();
        const call = { name: 'skill_run', arguments: { skill: 'user-file-ops', command: 'true' } };
        return { calls: [call] };
      },
      { text: 'never' },
    ]);
    const from = world.model.requests.length;
    const { turnId } = await client.enqueue({ input: 'without an engine', sessionId: 'spent' });
    const next = await client.enqueue({ input: 'quick', sessionId: 'spent' });
    // The first attempt got a step further, the model's reply; then come two that do not.
    expect(await client.result(turnId)).toMatchObject({
      ...{ status: 'failed', attempts: 3 },
      error: { code: 'SANDBOX_UNAVAILABLE', retryable: true },
    });
    expect(world.model.requests.length).toBe(from + 1);
    expect(await client.result(next.turnId)).toMatchObject({ output: 'quick answer' });
    expect(await saidIn(world, turnId)).toEqual(['without an engine', 'quick']);
    expect(world.model.faults).toEqual([]);
    const retried = (await eventsOf(client, turnId)).filter(({ type }) => type === 'turn.retrying');
    expect(retried).toMatchObject(Array(2).fill({ error: { code: 'SANDBOX_UNAVAILABLE' } }));
    engine.giveBack();
  });

  it('and comes back is waited for: the turn goes on from its journal [service-tries, step-not-twice]', async () => {
    world.script('a moment without', [
      () => {
        engine.takeAway();
        return { text: '', calls: [{ name: 'skill_list', arguments: {} }] };
      },
      runs('echo ran'),
      { text: 'came through' },
    ]);
    const { turnId } = await client.enqueue({ input: 'a moment without' });
    for await (const event of client.events(turnId)) {
      if (event.type === 'turn.retrying') break;
    }
    engine.giveBack();
    expect(await client.result(turnId)).toMatchObject({
      ...{ status: 'completed', output: 'came through', attempts: 2 },
      toolCalls: [{ name: 'skill_list', attempt: 1 }, { name: 'skill_run' }],
    });
    expect(world.model.faults).toEqual([]);
    await world.noSandboxLeft();
  });
});
