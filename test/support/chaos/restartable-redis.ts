import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GenericContainer } from 'testcontainers';
import { docker } from '../docker.js';
import { eventually } from '../eventually.js';
import { accepts, freePort, redisImage, type TestRedis } from '../redis-server.js';

/** A Redis that can die and come back with what it has said to have: AOF `always`. */
export interface RestartableRedis extends TestRedis {
  /** Kills it without a word and starts it again on the same port. */
  restart(): Promise<void>;
}

const durable = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always'];

/** Starts one: a private `redis-server` where there is one, else a container. */
export async function startRestartableRedis(): Promise<RestartableRedis> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const dir = await mkdtemp(join(tmpdir(), 'skillmill-chaos-redis-'));
  const begin = () => beginServer(port, dir);
  let server = await begin();
  if (server === undefined) {
    await rm(dir, { recursive: true, force: true });
    return startContainer(port, url);
  }
  const kill = async (running: ChildProcess) => {
    if (running.exitCode !== null || running.signalCode !== null) return;
    const exit = once(running, 'exit');
    running.kill('SIGKILL');
    await exit;
  };
  return {
    url,
    async restart() {
      if (server !== undefined) await kill(server);
      server = await begin();
    },
    async stop() {
      if (server !== undefined) await kill(server);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Undefined where there is no `redis-server`. */
async function beginServer(port: number, dir: string): Promise<ChildProcess | undefined> {
  const where = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir];
  const server = spawn('redis-server', [...where, ...durable], { stdio: 'ignore' });
  const failed = await Promise.race([
    once(server, 'error').then(() => true),
    once(server, 'spawn').then(() => false),
  ]);
  if (failed) return undefined;
  await eventually('a private redis-server', () => accepts(port));
  return server;
}

async function startContainer(port: number, url: string): Promise<RestartableRedis> {
  const started = await new GenericContainer(redisImage)
    .withExposedPorts({ container: 6379, host: port })
    .withCommand(['redis-server', '--protected-mode', 'no', ...durable])
    .start();
  const container = docker.getContainer(started.getId());
  return {
    url,
    async restart() {
      await container.kill();
      await container.start();
      await eventually('a restarted Redis', () => accepts(port));
    },
    stop: async () => {
      await started.stop();
    },
  };
}
