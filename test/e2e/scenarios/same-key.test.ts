import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createClient, type Client } from '../../../src/producer/index.js';
import { eventually } from '../../support/eventually.js';
import { eventsOf, held, saidIn } from '../../support/line-turns.js';
import { openWorld, type World } from '../../support/world.js';

let world: World;
let client: Client;
beforeAll(async () => {
  world = await openWorld({ SKILLMILL_EXECUTOR: 'local' });
  client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
  await world.worker();
  world.script('first', [{ text: 'answer of the first' }]);
  world.script('other', [{ text: 'answer of another' }]);
});
afterAll(async () => {
  await client.close();
  await world.close();
});

const answer = z.object({
  turnId: z.string(),
  sessionId: z.string(),
  position: z.number(),
  isKnown: z.boolean(),
});
/** Asks the command line. */
async function enqueue(input: string, options: readonly string[]) {
  const outcome = await world.run(['enqueue', input, ...options, '--json']);
  expect(outcome).toMatchObject({ code: 0, stderr: '' });
  return answer.parse(JSON.parse(outcome.stdout));
}

describe('ids and keys of any form', () => {
  it('are taken, and each names its own turn [same-key, odd-ids]', async () => {
    const turns = new Map<string, string>();
    for (const sessionId of ['123', '00123', '0', '-5', '1e3']) {
      for (const idempotencyKey of ['order:42', 'a:b:c', '🚀'.repeat(200), '0', ' ']) {
        const turn = { sessionId, idempotencyKey, input: 'first' };
        const first = await client.enqueue(turn);
        expect(first).toMatchObject({ sessionId, isKnown: false });
        expect(await client.enqueue({ ...turn, input: 'other' })).toMatchObject({
          ...{ turnId: first.turnId, sessionId, isKnown: true },
        });
        turns.set(first.turnId, sessionId);
      }
    }
    expect(turns.size).toBe(25);
    for (const [turnId, sessionId] of turns) {
      expect(await client.result(turnId)).toMatchObject({
        ...{ sessionId, status: 'completed', output: 'answer of the first' },
      });
    }
    for (const [turnId] of turns) {
      expect(await saidIn(world, turnId)).toEqual(Array(5).fill('first'));
    }
  });

  it('are taken on the command line [same-key, odd-ids]', async () => {
    const session = ['--session', '0'];
    const first = await enqueue('first', [...session, '--key', 'line:0']);
    expect(first).toMatchObject({ sessionId: '0', isKnown: false });
    expect(await enqueue('other', [...session, '--key', 'line:0'])).toMatchObject({
      ...{ turnId: first.turnId, isKnown: true },
    });
    expect(await enqueue('first', ['--session', '00', '--key', 'line:0'])).toMatchObject({
      ...{ sessionId: '00', isKnown: false },
    });
  });
});

describe('the same key', () => {
  it('gives the first turn also when that is over and its job is gone [same-key]', async () => {
    const turn = { sessionId: 'over', idempotencyKey: 'once', input: 'first' };
    const first = await client.enqueue(turn);
    const result = await client.result(first.turnId);
    await eventually('a queue without its job', async () =>
      (await world.redis.exists(`{skillmill-queue}:turns:${first.turnId}`)) === 0
        ? true
        : undefined,
    );
    const asked = world.model.requests.length;
    const again = await client.enqueue({ ...turn, input: 'other' });
    expect(again).toEqual({ ...first, position: 0, isKnown: true });
    expect(await client.result(again.turnId)).toEqual(result);
    expect(await saidIn(world, first.turnId)).toEqual(['first']);
    expect(world.model.requests.length).toBe(asked);
    const run = await world.run(['run', 'other', '--session', 'over', '--key', 'once']);
    expect(run).toMatchObject({ code: 0, stdout: 'answer of the first\n' });
  });

  it('in another session is another turn; without a session it leads to its own [same-key]', async () => {
    const keyed = { idempotencyKey: 'anywhere', input: 'first' };
    const one = await client.enqueue({ ...keyed, sessionId: 'one' });
    const two = await client.enqueue({ ...keyed, sessionId: 'two' });
    const none = await client.enqueue(keyed);
    expect([one, two, none].map(({ isKnown }) => isKnown)).toEqual([false, false, false]);
    expect(new Set([one, two, none].map(({ turnId }) => turnId)).size).toBe(3);
    expect(await enqueue('other', ['--key', 'anywhere'])).toMatchObject({
      ...{ turnId: none.turnId, sessionId: none.sessionId, isKnown: true },
    });
    const tenant = await world.run(['enqueue', 'first', '--key', 'anywhere', '--json'], {
      SKILLMILL_TENANT: 'other',
    });
    expect(answer.parse(JSON.parse(tenant.stdout)).isKnown).toBe(false);
  });

  it('from twenty clients at once is one turn [same-key]', async () => {
    const hold = held({ text: 'answered once' });
    world.script('twenty times', [hold.step]);
    const clients = Array.from({ length: 20 }, () =>
      createClient({ redisUrl: world.env['REDIS_URL'] ?? '' }),
    );
    const turns = await Promise.all(
      clients.map((each, n) =>
        each.enqueue({ sessionId: 'twenty', idempotencyKey: 'k', input: `twenty times ${n}` }),
      ),
    );
    expect(new Set(turns.map(({ turnId }) => turnId)).size).toBe(1);
    expect(turns.filter(({ isKnown }) => !isKnown)).toHaveLength(1);
    await hold.asked;
    hold.release();
    const turnId = turns[0]?.turnId ?? '';
    const results = await Promise.all(clients.map((each) => each.result(turnId)));
    for (const result of results) expect(result).toEqual(results[0]);
    const types = (await eventsOf(client, turnId)).map(({ type }) => type);
    expect(types.filter((type) => type === 'turn.queued')).toHaveLength(1);
    expect(types.filter((type) => type === 'turn.started')).toHaveLength(1);
    expect(await saidIn(world, turnId)).toHaveLength(1);
    await Promise.all(clients.map((each) => each.close()));
  });
});
