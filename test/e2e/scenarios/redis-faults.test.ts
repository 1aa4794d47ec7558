import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createClient, type Client, type TurnEvent } from '../../../src/producer/index.js';
import { turnResultSchema } from '../../../src/shared/contracts/index.js';
import { eventually } from '../../support/eventually.js';
import { startFaultProxy, type FaultProxy } from '../../support/fault-proxy.js';
import {
  freePort,
  hasRedisServer,
  startPrivateRedis,
  type RestartableRedis,
} from '../../support/redis-server.js';
import { openWorld, type World } from '../../support/world.js';

let server: RestartableRedis;
/** Between the worker and Redis. */
let workerProxy: FaultProxy;
/** Between the command line and Redis. */
let clientProxy: FaultProxy;
let world: World;
/** Past the proxies. */
let client: Client;
const viaProxy = () => ({ REDIS_URL: clientProxy.url });

async function openFaultyWorld(concurrency: number): Promise<void> {
  server = await startPrivateRedis(['--enable-debug-command', 'yes']);
  workerProxy = await startFaultProxy(server.url);
  clientProxy = await startFaultProxy(server.url);
  world = await openWorld(
    { SKILLMILL_EXECUTOR: 'local', SKILLMILL_CONCURRENCY: String(concurrency) },
    server,
  );
  world.redis.on('error', () => undefined);
  client = createClient({ redisUrl: server.url });
  world.script('quick', [{ text: 'quick answer' }]);
  await world.worker({ REDIS_URL: workerProxy.url });
}

async function closeFaultyWorld(): Promise<void> {
  await client.close();
  await world.close();
  await workerProxy.close();
  await clientProxy.close();
}

/** A turn in its model call: the model answers when it is told to. */
async function turnInModelCall(name: string) {
  let calls = 0;
  let isTold = false;
  world.script(name, [
    async () => {
      calls += 1;
      await eventually('the word to answer', () => isTold || undefined, 120_000);
      return { text: `${name}: done` };
    },
  ]);
  const { turnId } = await client.enqueue({ input: name, sessionId: name.replaceAll(' ', '-') });
  await eventually('the model call', () => calls > 0 || undefined);
  return { turnId, answer: () => (isTold = true) };
}

/** One result, events without gap or double, and one final event. */
async function endsOnce(turnId: string, output: string): Promise<void> {
  expect(await client.result(turnId)).toMatchObject({ status: 'completed', output });
  const events: TurnEvent[] = [];
  for await (const event of client.events(turnId)) events.push(event);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(events.filter(({ type }) => type === 'turn.completed')).toHaveLength(1);
  expect(events.filter(({ type }) => type === 'turn.queued')).toHaveLength(1);
}

/** Everything in Redis that a turn can leave behind, but for what workers and BullMQ keep up. */
async function turnKeysNow(): Promise<string[]> {
  const keys = await world.redis.keys('*');
  return keys.filter((key) => !/skillmill:worker|:(stalled-check|marker|lock)$/.test(key));
}

const oneSentence = /^skillmill: REDIS_UNAVAILABLE: .+\n$/;

const isThere = hasRedisServer();
describe.skipIf(!isThere)('connections that are in trouble', () => {
  beforeAll(() => openFaultyWorld(2));
  afterAll(closeFaultyWorld);
  beforeEach(() => {
    workerProxy.thaw();
    clientProxy.thaw();
  });

  it('a turn whose worker’s connections are cut again and again ends once [redis-faults]', async () => {
    const { turnId, answer } = await turnInModelCall('cut often');
    for (let cuts = 0; cuts < 10; cuts += 1) {
      workerProxy.cut(cuts % 2 === 0 ? 'reset' : 'end');
      await sleep(300);
    }
    answer();
    for (let cuts = 0; cuts < 20; cuts += 1) {
      workerProxy.cut();
      await sleep(60);
    }
    await endsOnce(turnId, 'cut often: done');
  });

  it('an idle worker whose connections are half open takes the next turn [redis-faults]', async () => {
    await client.result((await client.enqueue({ input: 'quick' })).turnId);
    workerProxy.freeze();
    const { turnId } = await client.enqueue({ input: 'quick' });
    await endsOnce(turnId, 'quick answer');
  });

  it('a turn whose worker’s connections are half open ends once, in its first attempt [redis-faults]', async () => {
    const { turnId, answer } = await turnInModelCall('half open');
    workerProxy.freeze();
    await sleep(1000);
    answer();
    await endsOnce(turnId, 'half open: done');
    expect(await client.result(turnId)).toMatchObject({ attempts: 1 });
  });

  it('`watch` and `run` go on after their connections were swallowed [redis-faults]', async () => {
    const { turnId, answer } = await turnInModelCall('watched');
    const watch = world.start(['watch', turnId], viaProxy());
    world.script('run through trouble', [
      async () => {
        await eventually('the second call', () => ranOn || undefined, 60_000);
        return { text: 'ran through' };
      },
    ]);
    let ranOn = false;
    const run = world.start(['run', 'run through trouble'], viaProxy());
    await eventually('both', () => clientProxy.connections >= 4 || undefined);
    await sleep(500);
    clientProxy.freeze();
    answer();
    ranOn = true;
    expect(await run.outcome).toMatchObject({ code: 0, stdout: 'ran through\n' });
    expect((await watch.outcome).code).toBe(0);
  });

  it('a command whose connection is silent fails with one sentence [redis-faults, redis-away]', async () => {
    clientProxy.freezeNew();
    for (const args of [['enqueue', 'quick'], ['run', 'quick'], ['worker']]) {
      const outcome = await world.run(args, viaProxy());
      expect(outcome).toMatchObject({ code: 3, stdout: '' });
      expect(outcome.stderr).toMatch(oneSentence);
    }
  });

  it('a slow network delays turns and spoils none [redis-faults]', async () => {
    workerProxy.delay(200);
    clientProxy.delay(200);
    const outcome = await world.run(['run', 'quick', '--json'], viaProxy());
    workerProxy.delay(0);
    clientProxy.delay(0);
    expect(outcome.code).toBe(0);
    const { turnId } = turnResultSchema.parse(JSON.parse(outcome.stdout));
    await endsOnce(turnId, 'quick answer');
  });
});

describe.skipIf(!isThere)('a Redis that is in trouble', () => {
  beforeAll(() => openFaultyWorld(1));
  afterAll(closeFaultyWorld);
  afterEach(async () => {
    await world.redis.config('SET', 'maxmemory', '0');
    await world.redis.replicaof('NO', 'ONE');
  });

  it('was away for 20 s: the running turn and those that wait end once, without a restart [redis-restart]', async () => {
    const { turnId, answer } = await turnInModelCall('through an outage');
    const waiting = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        client.enqueue({
          input: 'quick',
          sessionId: index < 2 ? 'through-an-outage' : `waits-${index}`,
        }),
      ),
    );
    const follower = world.start(['watch', turnId], viaProxy());
    await eventually('the follower', () => clientProxy.connections >= 2 || undefined);
    await sleep(500);
    await server.halt();
    await sleep(10_000);
    answer();
    await sleep(10_000);
    await server.resume();
    await endsOnce(turnId, 'through an outage: done');
    for (const { turnId: id } of waiting) await endsOnce(id, 'quick answer');
    expect((await follower.outcome).code).toBe(0);
  });

  it('is full: enqueue fails and leaves nothing; the running turn ends once when there is room [redis-full]', async () => {
    const { turnId, answer } = await turnInModelCall('while it is full');
    const before = await turnKeysNow();
    await world.redis.config('SET', 'maxmemory', '1mb');
    const outcome = await world.run(['enqueue', 'quick', '--session', 'no-room']);
    expect(outcome).toMatchObject({ code: 3, stdout: '' });
    expect(outcome.stderr).toMatch(oneSentence);
    expect(outcome.stderr).toMatch(/OOM.*maxmemory/);
    const added = (await turnKeysNow()).filter((key) => !before.includes(key));
    expect(added).toEqual([]);
    const late = await world.run(['worker']);
    expect(late).toMatchObject({ code: 3, stdout: '' });
    expect(late.stderr).toMatch(/OOM.*maxmemory/);
    answer();
    await sleep(3000);
    await world.redis.config('SET', 'maxmemory', '0');
    await endsOnce(turnId, 'while it is full: done');
  });

  it('is held up by a script: commands fail with one sentence, turns wait [redis-faults]', async () => {
    const { turnId, answer } = await turnInModelCall('while it is busy');
    await world.redis.config('SET', 'busy-reply-threshold', '100');
    const holder = new Redis(server.url);
    const script = holder.eval('while true do end', 0).catch((error: unknown) => String(error));
    await sleep(500);
    answer();
    const outcome = await world.run(['enqueue', 'quick']);
    expect(outcome).toMatchObject({ code: 3, stdout: '' });
    expect(outcome.stderr).toMatch(oneSentence);
    expect(outcome.stderr).toMatch(/BUSY.*SCRIPT KILL/);
    await sleep(2000);
    await world.redis.script('KILL');
    await script;
    holder.disconnect();
    await endsOnce(turnId, 'while it is busy: done');
  });

  it('answers slowly: turns wait [redis-faults]', async () => {
    const { turnId, answer } = await turnInModelCall('while it is slow');
    void world.redis.call('DEBUG', 'SLEEP', '3');
    answer();
    await sleep(100);
    const run = world.run(['run', 'quick']);
    await endsOnce(turnId, 'while it is slow: done');
    expect(await run).toMatchObject({ code: 0, stdout: 'quick answer\n' });
  });

  it('became a replica: commands fail with one sentence, turns wait for the fail-over [redis-faults]', async () => {
    const { turnId, answer } = await turnInModelCall('while it fails over');
    await world.redis.replicaof('127.0.0.1', await freePort());
    answer();
    const outcome = await world.run(['enqueue', 'quick']);
    expect(outcome).toMatchObject({ code: 3, stdout: '' });
    expect(outcome.stderr).toMatch(oneSentence);
    expect(outcome.stderr).toMatch(/READONLY.*primary/);
    await world.redis.replicaof('NO', 'ONE');
    await endsOnce(turnId, 'while it fails over: done');
  });
});
