import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, type Client, type TurnEvent } from '../../../src/producer/index.js';
import { eventually } from '../../support/eventually.js';
import { openWorld, runs, type World } from '../../support/world.js';

let world: World;
let client: Client;
beforeAll(async () => {
  world = await openWorld({ SKILLMILL_CONCURRENCY: '2' });
  client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
  world.script('quick', [{ text: 'quick answer' }]);
});
afterAll(async () => {
  await client.close();
  await world.close();
});

/** Waits for an event of a turn. */
async function seen(turnId: string, type: TurnEvent['type']): Promise<TurnEvent> {
  for await (const event of client.events(turnId)) if (event.type === type) return event;
  throw new Error(`the turn ended without ${type}`);
}

describe('workers that come and go', () => {
  it('finishes what runs after SIGTERM; another worker takes what waits [drain]', async () => {
    const first = await world.worker();
    world.script('a slow turn', [runs('sleep 3; echo slept'), { text: 'slow answer' }]);
    const slow = await client.enqueue({ input: 'a slow turn', sessionId: 'drained' });
    const waiting = await client.enqueue({ input: 'quick', sessionId: 'drained' });
    await seen(slow.turnId, 'tool.started');
    const ended = first.end('SIGTERM');
    const second = await world.worker();
    expect(await ended).toBe(0);
    expect(await client.result(slow.turnId)).toMatchObject({
      status: 'completed',
      output: 'slow answer',
      attempts: 1,
    });
    expect(await client.result(waiting.turnId)).toMatchObject({ status: 'completed', attempts: 1 });
    await second.end();
    await world.noSandboxLeft();
  });

  it('hands a turn over when the grace time is not enough [hand-over]', async () => {
    const first = await world.worker({ SKILLMILL_SHUTDOWN_GRACE: '0' });
    let tries = 0;
    world.script('longer than grace', [
      () => {
        tries += 1;
        return tries === 1 ? { text: 'too late', delayMs: 60_000 } : { text: 'done by the second' };
      },
    ]);
    const { turnId } = await client.enqueue({ input: 'longer than grace' });
    await eventually('the first model call', () => (tries === 1 ? true : undefined));
    const second = await world.worker();
    expect(await first.end('SIGTERM')).toBe(0);
    expect(await client.result(turnId)).toMatchObject({
      output: 'done by the second',
      attempts: 2,
    });
    await second.end();
  });

  it('hands a turn over at its next step when the step ends soon: nothing of it is done again, no file is lost [hand-over]', async () => {
    const first = await world.worker({ SKILLMILL_SHUTDOWN_GRACE: '0' });
    world.script('between two steps', [
      runs('echo begun >> "$WORK_DIR/log"; echo ready; sleep 0.4'),
      runs('cat "$WORK_DIR/log"'),
      { text: 'handed over' },
    ]);
    const { turnId } = await client.enqueue({ input: 'between two steps' });
    await seen(turnId, 'tool.output');
    expect(await first.end('SIGTERM')).toBe(0);
    const second = await world.worker();
    const result = await client.result(turnId);
    expect(result).toMatchObject({ output: 'handed over', attempts: 2 });
    expect(result.toolCalls).toMatchObject([
      { attempt: 1 },
      { attempt: 1, result: { stdout: 'begun\n' } },
    ]);
    await second.end();
  });

  it('ends a turn whose worker is killed in one result, elsewhere [worker-killed, no-sandbox-left, event-seq]', async () => {
    const first = await world.worker();
    world.script('survive this', [
      runs('test -e "$WORK_DIR/second-time" || sleep 4'),
      { text: 'survived' },
    ]);
    const { turnId } = await client.enqueue({ input: 'survive this', sessionId: 'killed' });
    const later = await client.enqueue({ input: 'quick', sessionId: 'killed' });
    await seen(turnId, 'tool.started');
    await first.end('SIGKILL');
    const second = await world.worker();
    expect(await client.result(turnId)).toMatchObject({
      status: 'completed',
      output: 'survived',
      attempts: 2,
    });
    expect(await client.result(later.turnId)).toMatchObject({ status: 'completed', attempts: 1 });

    const events: TurnEvent[] = [];
    for await (const event of client.events(turnId)) events.push(event);
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1));
    const types = events.map((event) => event.type);
    expect(types[0]).toBe('turn.queued');
    expect(types.filter((type) => type === 'turn.started')).toHaveLength(2);
    expect(types.filter((type) => type.startsWith('turn.completed'))).toHaveLength(1);
    expect(types.at(-1)).toBe('turn.completed');
    await second.end();
    // The dead worker's container goes when its sign of life has run out: the next worker's sweep takes it.
    await world.redis.del(...(await world.redis.keys('skillmill:worker:*')));
    const third = await world.worker();
    await world.noSandboxLeft();
    await third.end();
  });

  it('gives a turn up that kills each of its workers, and goes on [worker-killed-always]', async () => {
    world.script('poison', [{ text: 'never said', delayMs: 600_000 }]);
    const { turnId } = await client.enqueue({ input: 'poison', sessionId: 'poisoned' });
    const after = await client.enqueue({ input: 'quick', sessionId: 'poisoned' });
    const watch = world.start(['watch', turnId]);
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const worker = await world.worker();
      await eventually(`attempt ${attempt}`, async () =>
        (await world.redis.hget(await turnKey(turnId), 'attempts')) === String(attempt)
          ? true
          : undefined,
      );
      await worker.end('SIGKILL');
    }
    const last = await world.worker();
    expect(await client.result(turnId)).toMatchObject({
      status: 'failed',
      error: { code: 'WORKER_LOST', retryable: true },
    });
    expect(await watch.outcome).toMatchObject({ code: 1, stdout: '' });
    expect(await client.result(after.turnId)).toMatchObject({ status: 'completed' });
    expect(world.model.faults).toEqual([]);
    await last.end();
  });

  it('runs a session’s turns in order, and others meanwhile [session-order, others-not-delayed]', async () => {
    const workers = [await world.worker(), await world.worker()];
    let running = 0;
    let most = 0;
    const step = (text: string) => async () => {
      running += 1;
      most = Math.max(most, running);
      await sleep(100);
      running -= 1;
      return { text };
    };
    for (let n = 0; n < 12; n += 1) world.script(`ordered ${n}.`, [step(`answer ${n}`)]);
    let release = () => {};
    const blocked = new Promise<void>((resolve) => (release = resolve));
    world.script('block the line', [() => blocked.then(() => ({ text: 'unblocked' }))]);

    const first = await client.enqueue({ input: 'block the line', sessionId: 'ordered' });
    const turns = [];
    for (let n = 0; n < 12; n += 1) {
      turns.push(await client.enqueue({ input: `ordered ${n}.`, sessionId: 'ordered' }));
    }
    expect(turns.at(-1)?.position).toBe(13);
    // Four slots, one held by the blocked turn: were waiting turns to hold slots, these would never end.
    for (let n = 0; n < 6; n += 1) {
      const other = await client.enqueue({ input: 'quick', sessionId: `other-${n}` });
      expect(await client.result(other.turnId)).toMatchObject({ status: 'completed' });
    }
    release();
    expect(await client.result(first.turnId)).toMatchObject({ output: 'unblocked' });
    for (const [n, turn] of turns.entries()) {
      expect(await client.result(turn.turnId)).toMatchObject({
        output: `answer ${n}`,
        attempts: 1,
      });
    }
    expect(most).toBe(1);
    const [key] = await world.redis.keys(
      `skillmill:{default:${turns[0]?.turnId.split('_')[1] ?? ''}}:messages`,
    );
    const messages = (await world.redis.lrange(key ?? '', 0, -1)).map(
      (text) => JSON.parse(text) as { content: string },
    );
    expect(messages.map((message) => message.content)).toEqual([
      'block the line',
      'unblocked',
      ...turns.flatMap((_, n) => [`ordered ${n}.`, `answer ${n}`]),
    ]);
    await Promise.all(workers.map((worker) => worker.end()));
  });
});

async function turnKey(turnId: string): Promise<string> {
  const [key] = await world.redis.keys(`skillmill:*:turn:${turnId}`);
  return key ?? '';
}
