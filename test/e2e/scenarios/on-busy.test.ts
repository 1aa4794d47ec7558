import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Step } from '../../../examples/scripted-model.js';
import { createClient, type Client, type TurnEvent } from '../../../src/producer/index.js';
import { eventually } from '../../support/eventually.js';
import { held, historyOf, oneByOne, saidIn, seen, tooMany } from '../../support/line-turns.js';
import { openWorld, runs, type World } from '../../support/world.js';

let world: World;
let client: Client;
beforeAll(async () => {
  world = await openWorld({ SKILLMILL_EXECUTOR: 'local', SKILLMILL_CONCURRENCY: '2' });
  client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
  await world.worker();
  world.script('quick', [{ text: 'quick answer' }]);
});
afterAll(async () => {
  await client.close();
  await world.close();
});

/** Every key of a session, a turn or a job: what an accepted turn would leave. */
async function turnKeys(): Promise<string[]> {
  const keys = await world.redis.keys('*');
  return keys.filter((key) => /\{default:|:turns:turn_/.test(key)).sort();
}

describe('onBusy: reject', () => {
  it('refuses a turn while another waits or runs, and leaves nothing behind [on-busy-reject]', async () => {
    const hold = held({ text: 'held answer' });
    world.script('hold the session', [hold.step]);
    const session = { sessionId: 'rejecting', onBusy: 'reject' } as const;
    const running = await client.enqueue({ ...session, input: 'hold the session' });
    await hold.asked;
    const before = await turnKeys();
    await expect(client.enqueue({ ...session, input: 'refused' })).rejects.toMatchObject({
      code: 'SESSION_BUSY',
      retryable: true,
    });
    const refused = await world.run([
      ...['enqueue', 'refused', '--session', 'rejecting', '--on-busy', 'reject'],
    ]);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(/^skillmill: SESSION_BUSY: .*rejecting.*interrupt.*\n$/);
    expect(await turnKeys()).toEqual(before);
    // Another session is not busy.
    const other = await client.enqueue({ ...session, sessionId: 'idle', input: 'quick' });
    expect(await client.result(other.turnId)).toMatchObject({ output: 'quick answer' });

    hold.release();
    expect(await client.result(running.turnId)).toMatchObject({ output: 'held answer' });
    const after = await client.enqueue({ ...session, input: 'quick' });
    expect(await client.result(after.turnId)).toMatchObject({ status: 'completed' });
    expect(await saidIn(world, after.turnId)).toEqual(['hold the session', 'quick']);
  });

  it('gives a known turn of the same key though the session is busy [on-busy-reject, same-key]', async () => {
    const hold = held({ text: 'held answer' });
    world.script('hold with a key', [hold.step]);
    const turn = {
      sessionId: 'keyed',
      onBusy: 'reject',
      idempotencyKey: 'k',
      input: 'hold with a key',
    } as const;
    const first = await client.enqueue(turn);
    await hold.asked;
    expect(await client.enqueue(turn)).toMatchObject({ turnId: first.turnId, isKnown: true });
    hold.release();
    await client.result(first.turnId);
  });
});

const phases: [string, Step[], TurnEvent['type']][] = [
  ['in a model call', [() => new Promise(() => undefined)], 'turn.started'],
  ['in a command', [runs('echo begun; sleep 300'), { text: 'never' }], 'tool.output'],
  ['waiting for an endpoint', oneByOne([tooMany(4), { text: 'never' }]), 'turn.retrying'],
];

describe('onBusy: interrupt', () => {
  it.each(phases)(
    'ends a turn %s, and runs after those that waited before [on-busy-interrupt]',
    async (phase, steps, moment) => {
      const sessionId = `interrupted-${phase.replaceAll(' ', '-')}`;
      world.script(`busy ${phase}`, steps);
      const running = await client.enqueue({ input: `busy ${phase}`, sessionId });
      await seen(client, running.turnId, moment);
      const waiting = await client.enqueue({ input: 'quick, I waited', sessionId });
      const newOne = await client.enqueue({
        ...{ input: 'quick, make way', sessionId, onBusy: 'interrupt' },
      });
      expect(newOne).toMatchObject({ isKnown: false });
      expect(await client.result(running.turnId, { waitMs: 10_000 })).toMatchObject({
        status: 'cancelled',
        error: { code: 'CANCELLED' },
      });
      expect(await client.result(newOne.turnId)).toMatchObject({ output: 'quick answer' });
      expect(await client.result(waiting.turnId, { waitMs: 0 })).toMatchObject({
        status: 'completed',
        output: 'quick answer',
      });
      expect(await saidIn(world, newOne.turnId)).toEqual([
        ...[`busy ${phase}`, 'quick, I waited', 'quick, make way'],
      ]);
      const messages = await historyOf(world, newOne.turnId);
      const calls = messages.flatMap((message) =>
        message.role === 'assistant' ? message.toolCalls.map(({ id }) => id) : [],
      );
      const answers = messages.flatMap((message) =>
        message.role === 'tool' ? [message.toolCallId] : [],
      );
      expect(answers).toEqual(calls);
      expect(world.model.faults).toEqual([]);
    },
  );

  it('cancels nothing that waits, nor anything in an idle session [on-busy-interrupt]', async () => {
    const hold = held({ text: 'held answer' });
    world.script('hold before two', [hold.step]);
    const sessionId = 'twice-interrupted';
    const first = await client.enqueue({ input: 'hold before two', sessionId });
    await hold.asked;
    const second = await world.run([
      ...['enqueue', 'quick, second', '--session', sessionId, '--on-busy', 'interrupt'],
    ]);
    const third = await client.enqueue({
      ...{ input: 'quick, third', sessionId, onBusy: 'interrupt' },
    });
    expect(await client.result(first.turnId)).toMatchObject({ status: 'cancelled' });
    const outcomes = await Promise.all(
      [second.stdout.trim(), third.turnId].map((turnId) => client.result(turnId)),
    );
    // The second may have begun when the third came: then it made way.
    expect(['completed', 'cancelled']).toContain(outcomes[0]?.status);
    expect(outcomes[1]).toMatchObject({ status: 'completed' });
    const idle = await client.enqueue({
      ...{ input: 'quick, alone', sessionId: 'never-busy', onBusy: 'interrupt' },
    });
    expect(await client.result(idle.turnId)).toMatchObject({ status: 'completed', attempts: 1 });
    await eventually('an end of every turn', async () =>
      (await world.redis.keys('*:line')).length === 0 ? true : undefined,
    );
  });
});
