import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, type Client } from '../../../src/producer/index.js';
import { eventually } from '../../support/eventually.js';
import { eventsOf, held, historyOf, saidIn } from '../../support/line-turns.js';
import { openWorld, runs, type World } from '../../support/world.js';

let world: World;
let client: Client;
beforeAll(async () => {
  world = await openWorld({ SKILLMILL_EXECUTOR: 'local', SKILLMILL_CONCURRENCY: '2' });
  client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
});
afterAll(async () => {
  await client.close();
  await world.close();
});

/** What the user's messages of a request say. */
const said = (request: { messages: { role: string; content?: unknown }[] }) =>
  request.messages.filter(({ role }) => role === 'user').map(({ content }) => content);

describe('onBusy: steer', () => {
  it('adds the message to the running turn before its next model call [on-busy-steer]', async () => {
    const worker = await world.worker();
    const first = held({ calls: [{ name: 'skill_list', arguments: {} }] });
    let asked: unknown[] = [];
    world.script('long work', [
      first.step,
      (request) => {
        asked = said(request);
        return { text: 'did both' };
      },
    ]);
    const session = { sessionId: 'steered' };
    const running = await client.enqueue({ ...session, input: 'long work' });
    await first.asked;
    const waiting = await client.enqueue({ ...session, input: 'long work' });
    const more = { ...session, onBusy: 'steer', metadata: { who: 'me' } } as const;
    const joined = await client.enqueue({ ...more, input: 'and mind the gap' });
    expect(joined.position).toBe(0);
    first.release();
    expect(await client.result(running.turnId)).toMatchObject({ output: 'did both' });
    expect(asked).toEqual(['long work', 'and mind the gap']);
    expect(await client.result(joined.turnId)).toMatchObject({
      ...{ status: 'completed', output: '', error: null, metadata: { who: 'me' } },
      mergedInto: running.turnId,
    });
    const events = await eventsOf(client, running.turnId);
    expect(events.find(({ type }) => type === 'message.joined')).toMatchObject({
      ...{ from: joined.turnId, text: 'and mind the gap' },
    });
    expect((await eventsOf(client, joined.turnId)).map(({ type }) => type)).toEqual([
      ...['turn.queued', 'turn.completed'],
    ]);
    await client.result(waiting.turnId);
    expect(await saidIn(world, running.turnId)).toEqual([
      ...['long work', 'and mind the gap', 'long work'],
    ]);
    await worker.end();
  });

  it('is read before a turn completes, also when it comes with the last answer [on-busy-steer]', async () => {
    const worker = await world.worker();
    const last = held({ text: 'the answer' });
    world.script('nearly done', [last.step, { text: 'the answer, and more' }]);
    const session = { sessionId: 'late' };
    const running = await client.enqueue({ ...session, input: 'nearly done' });
    await last.asked;
    await client.enqueue({ ...session, onBusy: 'steer', input: 'one more thing' });
    last.release();
    expect(await client.result(running.turnId)).toMatchObject({ output: 'the answer, and more' });
    await worker.end();
  });

  it('is a turn of its own where none runs, where it brings a file, and where the running one fails [on-busy-steer]', async () => {
    const worker = await world.worker();
    world.script('a turn', [{ text: 'an answer' }]);
    const failing = held({ status: 400 });
    world.script('will fail', [failing.step]);
    const session = { sessionId: 'alone', onBusy: 'steer' } as const;
    const alone = await client.enqueue({ ...session, input: 'a turn' });
    expect(await client.result(alone.turnId)).toMatchObject({ output: 'an answer' });

    const running = await client.enqueue({ ...session, input: 'will fail' });
    await failing.asked;
    const joining = await client.enqueue({ ...session, input: 'a turn' });
    const files = [{ path: 'a.txt', content: 'a' }];
    const withFile = await client.enqueue({ ...session, input: 'a turn', files });
    expect([joining.position, withFile.position]).toEqual([0, 2]);
    failing.release();
    expect(await client.result(running.turnId)).toMatchObject({ status: 'failed' });
    for (const { turnId } of [joining, withFile]) {
      expect(await client.result(turnId)).toMatchObject({ output: 'an answer', attempts: 1 });
    }
    await worker.end();
  });

  it('stays in the turn when its worker dies after it was read [on-busy-steer, step-not-twice]', async () => {
    const first = await world.worker();
    let isAsked = false;
    let asked: unknown[] = [];
    let tries = 0;
    world.script('survive and listen', [
      runs('sleep 1; echo one'),
      (request) => {
        tries += 1;
        asked = said(request);
        if (tries > 1) return { text: 'heard' };
        return new Promise(() => void (isAsked = true));
      },
    ]);
    const session = { sessionId: 'survivor' };
    const running = await client.enqueue({ ...session, input: 'survive and listen' });
    for await (const event of client.events(running.turnId)) {
      if (event.type === 'tool.started') break;
    }
    const joined = await client.enqueue({ ...session, onBusy: 'steer', input: 'listen' });
    await eventually('the second model call', () => (isAsked ? true : undefined));
    await first.end('SIGKILL');
    const second = await world.worker();
    expect(await client.result(running.turnId)).toMatchObject({ output: 'heard', attempts: 2 });
    expect(asked).toEqual(['survive and listen', 'listen']);
    expect(await client.result(joined.turnId)).toMatchObject({ mergedInto: running.turnId });
    const roles = (await historyOf(world, running.turnId)).map(({ role }) => role);
    expect(roles).toEqual(['user', 'assistant', 'tool', 'user', 'assistant']);
    await second.end();
  });
});
