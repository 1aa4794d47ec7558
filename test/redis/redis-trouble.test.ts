import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  closeRedis,
  connectRedis,
  requireRedis,
  type RedisClient,
} from '../../src/shared/redis/redis-client.js';
import type { RedisRole } from '../../src/shared/redis/connection-options.js';
import { startFaultProxy, type FaultProxy } from '../support/fault-proxy.js';
import { freePort, startRedis, type TestRedis } from '../support/redis-server.js';
import { eventually } from '../support/eventually.js';
import { writeFault } from './write-fault.js';

let server: TestRedis;
let proxy: FaultProxy;
/** Past the proxy: what the trouble is made with. */
let direct: Redis;
beforeAll(async () => {
  server = await startRedis(['--enable-debug-command', 'yes']);
  direct = new Redis(server.url);
  proxy = await startFaultProxy(server.url);
});
afterAll(async () => {
  direct.disconnect();
  await proxy.close();
  await server.stop();
});

/** A connection through the proxy that has answered once; each test ends without trouble. */
async function open(role: RedisRole): Promise<RedisClient> {
  const client = connectRedis([proxy.url], role);
  onTestFinished(async () => {
    closeRedis(client);
    proxy.thaw();
    proxy.cut();
    proxy.delay(0);
    await direct.replicaof('NO', 'ONE');
    await direct.config('SET', 'maxmemory', '0');
    await direct.flushall();
  });
  await requireRedis(client, [proxy.url]);
  return client;
}

/** Holds Redis up until the end that is given back; it says BUSY before this resolves. */
async function holdUp(): Promise<() => Promise<void>> {
  await direct.config('SET', 'busy-reply-threshold', '50');
  const other = new Redis(server.url, { maxRetriesPerRequest: 0 });
  const script = other.eval('while true do end', 0).catch((error: unknown) => String(error));
  await eventually('a busy Redis', () =>
    direct.get('any').then(
      () => undefined,
      (error: unknown) => String(error).includes('BUSY') || undefined,
    ),
  );
  return async () => {
    await direct.script('KILL');
    await script;
    other.disconnect();
  };
}

const becomeReplica = async () => {
  await direct.replicaof('127.0.0.1', await freePort());
};

/** A write that waits, and the trouble's end a while later. */
async function outlasts(client: RedisClient, end: () => unknown): Promise<void> {
  const written = client.set('waits', 'yes');
  let isWritten = false;
  void written.then(() => (isWritten = true));
  await sleep(800);
  expect(isWritten, 'the write is held up').toBe(false);
  await end();
  await written;
  expect(await direct.get('waits')).toBe('yes');
}

describe('a worker’s connection', () => {
  it('sends again what a cut took away', async () => {
    const client = await open('worker');
    proxy.delay(100);
    const answers = Promise.all([client.incr('a'), client.incr('b')]);
    await sleep(50);
    proxy.cut();
    proxy.delay(0);
    await answers;
    expect(await client.ping()).toBe('PONG');
  });

  it('waits while nobody listens, and goes on', async () => {
    const client = await open('worker');
    proxy.refuse();
    await outlasts(client, () => proxy.thaw());
  });

  it('waits while a script holds Redis up', async () => {
    const client = await open('worker');
    const release = await holdUp();
    await outlasts(client, release);
  });

  it('waits while a script holds Redis up, also on a connection that is made meanwhile', async () => {
    const client = await open('worker');
    const release = await holdUp();
    proxy.cut();
    await outlasts(client, release);
  });

  it('waits while Redis is full', async () => {
    const client = await open('worker');
    await direct.config('SET', 'maxmemory', '1');
    await outlasts(client, () => direct.config('SET', 'maxmemory', '0'));
  });

  it('waits for the end of a fail-over', async () => {
    const client = await open('worker');
    await becomeReplica();
    await outlasts(client, () => direct.replicaof('NO', 'ONE'));
  });

  it('takes a slow Redis for a slow one', async () => {
    const client = await open('worker');
    const before = proxy.opened;
    void direct.call('DEBUG', 'SLEEP', '2');
    expect(await client.incr('slow')).toBe(1);
    expect(proxy.opened).toBe(before);
  });
});

// A client has 5 s; whoever waits longer fails by the test's own time.
describe('a client’s connection', { timeout: 9000 }, () => {
  it('fails when nobody listens', async () => {
    const client = await open('client');
    proxy.refuse();
    expect((await writeFault(client)).message).toContain('Check that it is up');
  });

  it('bears a cut', async () => {
    const client = await open('client');
    proxy.cut();
    expect(await client.set('any', 1)).toBe('OK');
  });

  it('fails when Redis is full', async () => {
    const client = await open('client');
    await direct.config('SET', 'maxmemory', '1');
    expect((await writeFault(client)).message).toMatch(/OOM.*maxmemory/);
  });

  it('fails while a script holds Redis up, also before Redis says so', async () => {
    const client = await open('client');
    const release = await holdUp();
    expect((await writeFault(client)).message).toMatch(/BUSY.*SCRIPT KILL/);
    await release();
    void direct.call('DEBUG', 'SLEEP', '6').catch(() => undefined);
    await writeFault(client);
    await direct.ping();
  });

  it('fails on a replica that stays one, and outlasts a short fail-over', async () => {
    const client = await open('client');
    await becomeReplica();
    const written = client.set('brief', 1);
    await sleep(500);
    await direct.replicaof('NO', 'ONE');
    expect(await written).toBe('OK');
    await sleep(2100); // by then it is another trouble
    await becomeReplica();
    expect((await writeFault(client)).message).toMatch(/READONLY.*primary/);
  });

  it('is told what is wrong at its first command', async () => {
    await open('client');
    const release = await holdUp();
    const late = connectRedis([proxy.url], 'client');
    await expect(requireRedis(late, [proxy.url])).rejects.toMatchObject({
      code: 'REDIS_UNAVAILABLE',
      message: expect.stringMatching(/BUSY.*SCRIPT KILL/) as string,
    });
    closeRedis(late);
    await release();
    proxy.freezeNew();
    const silent = connectRedis([proxy.url], 'client');
    await expect(requireRedis(silent, [proxy.url])).rejects.toMatchObject({
      code: 'REDIS_UNAVAILABLE',
      message: expect.stringContaining('Start it') as string,
    });
    closeRedis(silent);
  });
});
