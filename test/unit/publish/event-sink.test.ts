import { describe, expect, it } from 'vitest';
import { SkillmillError } from '../../../src/shared/errors/skillmill-error.js';
import { createEventSink } from '../../../src/worker/publish/event-sink.js';
import { SessionLine } from '../../redis/session-line.js';
import { useRedis } from '../../redis/use-redis.js';
import { eventually } from '../../support/eventually.js';

const redis = useRedis();
const step = (n: number) => ({ type: 'skill.loaded', name: `s${n}`, digest: 'd' }) as const;

/** A sink on a turn that is held, and what the stream holds beyond the turn's queueing and start. */
async function openSink() {
  const s = new SessionLine(redis.client);
  const turn = s.turn(1);
  await s.enqueue(turn);
  const proof = await s.take(turn);
  const faults: SkillmillError[] = [];
  let lost = 0;
  const sink = createEventSink({
    client: redis.client,
    proof: { ...proof, keys: { ...s.keys, ...s.turnKeys(turn) } },
    isHeld: () => true,
    onLost: () => {
      lost += 1;
      return new SkillmillError('LEASE_LOST', 'lost');
    },
    onFault: (error) => faults.push(error),
  });
  const published = async () => (await s.events(turn)).slice(2).map((event) => event.body);
  const outputs = async () =>
    (await published()).flatMap((body) => (body['type'] === 'tool.output' ? [body['text']] : []));
  return { s, turn, proof, sink, faults, lost: () => lost, published, outputs };
}

describe('event sink', () => {
  it('publishes in the order of the calls, output among them', async () => {
    const { sink, published } = await openSink();
    const expected: string[] = [];
    for (let n = 0; n < 50; n += 1) {
      sink.emit(step(n));
      sink.output('c1', n % 2 === 0 ? 'stdout' : 'stderr', `line ${n}`);
      expected.push(`s${n}`, `line ${n}`);
    }
    await sink.flush();
    expect((await published()).map((body) => body['name'] ?? body['text'])).toEqual(expected);
  });

  it('puts small pieces of one stream together until something else is said', async () => {
    const { sink, published } = await openSink();
    sink.output('c1', 'stdout', 'a');
    sink.output('c1', 'stderr', 'b');
    sink.output('c1', 'stdout', 'c');
    sink.output('c2', 'stdout', 'd');
    sink.emit(step(1));
    sink.output('c2', 'stdout', 'e');
    await sink.flush();
    expect((await published()).map((b) => [b['callId'], b['stream'], b['text']])).toEqual([
      ['c1', 'stdout', 'ac'],
      ['c1', 'stderr', 'b'],
      ['c2', 'stdout', 'd'],
      [undefined, undefined, undefined],
      ['c2', 'stdout', 'e'],
    ]);
  });

  it('makes few events of many small pieces, and bounds each', async () => {
    const { sink, outputs } = await openSink();
    for (let n = 0; n < 2000; n += 1)
      sink.output('c1', n % 2 === 0 ? 'stdout' : 'stderr', 'x'.repeat(20));
    await sink.flush();
    const texts = (await outputs()).map(String);
    expect(texts.join('')).toHaveLength(40_000);
    expect(texts.length).toBeLessThan(10);
    for (const text of texts) expect(text.length).toBeLessThan(2 * 8192);
  });

  it('publishes output by itself after a while', async () => {
    const { sink, outputs } = await openSink();
    sink.output('c1', 'stdout', 'soon');
    await eventually('the output', async () => ((await outputs()).length > 0 ? true : undefined));
    expect(await outputs()).toEqual(['soon']);
  });

  it('shows 64 KiB of a call, both streams together, and says that there is more', async () => {
    const { sink, outputs } = await openSink();
    for (let n = 0; n < 20; n += 1) {
      sink.output('c1', n % 2 === 0 ? 'stdout' : 'stderr', `${n % 10}`.repeat(5000));
    }
    sink.output('c2', 'stdout', 'another call');
    await sink.flush();
    const [last, ...shown] = (await outputs()).map(String).reverse();
    expect(last).toBe('another call');
    const text = shown.reverse().join('');
    expect(text.replace('\n… the rest is not shown here\n', '')).toHaveLength(65_536);
    expect(text.match(/the rest is not shown/g)).toHaveLength(1);
  });

  it('says that there is more also when a piece ended exactly at the limit', async () => {
    const { sink, outputs } = await openSink();
    sink.output('c1', 'stdout', 'x'.repeat(65_536));
    sink.output('c1', 'stdout', 'and more');
    await sink.flush();
    expect((await outputs()).join('')).toContain('the rest is not shown');
  });

  it('cuts between characters', async () => {
    const { sink, outputs } = await openSink();
    sink.output('c1', 'stdout', `x${'😀'.repeat(40_000)}`);
    await sink.flush();
    expect((await outputs()).join('').isWellFormed()).toBe(true);
  });

  it('says once per refused write that the lease is lost, and writes nothing', async () => {
    const { s, turn, sink, published, lost, faults } = await openSink();
    sink.emit(step(1));
    await sink.flush();
    await s.expireLease();
    await s.take(turn, 'another');
    sink.emit(step(2));
    await sink.flush();
    expect(lost()).toBe(1);
    expect(faults).toEqual([]);
    const types = (await published()).map((body) => body['type']);
    expect(types).toEqual(['skill.loaded', 'turn.started']);
  });

  it('tells a fault of Redis and tries again, in order, until it is written', async () => {
    const { s, turn, sink, faults, published } = await openSink();
    const { events } = s.turnKeys(turn);
    await redis.client.rename(events, 'aside');
    await redis.client.set(events, 'in the way');
    sink.emit(step(1));
    sink.emit(step(2));
    await eventually('two faults', () => (faults.length > 1 ? true : undefined));
    expect(faults[0]).toMatchObject({ code: 'REDIS_UNAVAILABLE' });
    await redis.client.rename('aside', events);
    await sink.flush();
    expect((await published()).map((body) => body['name'])).toEqual(['s1', 's2']);
  });

  it('has nothing to write when nothing was said', async () => {
    const { sink, published } = await openSink();
    await sink.flush();
    sink.output('c1', 'stdout', '');
    await sink.flush();
    expect((await published()).length).toBeLessThanOrEqual(1);
  });
});
