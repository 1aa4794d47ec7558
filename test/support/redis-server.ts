import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:net';
import { GenericContainer } from 'testcontainers';
import { eventually } from './eventually.js';

export const redisImage = 'redis:7-bookworm';

export interface TestRedis {
  readonly url: string;
  stop(): Promise<void>;
}

/** A private server that can be away for a while. */
export interface RestartableRedis extends TestRedis {
  /** Ends the server; its data stays. */
  halt(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again, on the same port, with the data that it had. */
  resume(): Promise<void>;
}

/** A Redis server of its own: a private `redis-server` where there is one, else a container. */
export async function startRedis(options: readonly string[] = []): Promise<TestRedis> {
  return hasRedisServer() ? startPrivateRedis(options) : startRedisContainer(options);
}

/** Can `redis-server` be run here? */
export function hasRedisServer(): boolean {
  return spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0;
}

/** A private `redis-server` that can be halted and resumed. */
export async function startPrivateRedis(
  options: readonly string[] = [],
): Promise<RestartableRedis> {
  const port = await freePort();
  const dir = await mkdtemp(join(tmpdir(), 'skillmill-redis-'));
  const start = async () => {
    const server = spawn(
      'redis-server',
      [
        ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir],
        ...['--save', '', '--appendonly', 'yes', ...options],
      ],
      { stdio: 'ignore' },
    );
    await once(server, 'spawn');
    await eventually('a private redis-server', () => accepts(port));
    return server;
  };
  let server: ChildProcess | undefined = await start();
  const halt = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (server === undefined) return;
    const exit = once(server, 'exit');
    server.kill(signal);
    await exit;
    server = undefined;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    halt,
    async resume() {
      server ??= await start();
    },
    async stop() {
      await halt();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** A Redis in a container, as the end-to-end tests use it. */
export async function startRedisContainer(options: readonly string[] = []): Promise<TestRedis> {
  const container = await new GenericContainer(redisImage)
    .withExposedPorts(6379)
    .withCommand(['redis-server', '--appendonly', 'yes', '--protected-mode', 'no', ...options])
    .start();
  return {
    url: `redis://${container.getHost()}:${container.getMappedPort(6379)}`,
    stop: async () => {
      await container.stop();
    },
  };
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** True when something listens on this port. */
export async function accepts(port: number): Promise<true | undefined> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } finally {
    socket.destroy();
  }
}
