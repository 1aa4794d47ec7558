import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Redis } from 'ioredis';

/** A private server that keeps every write, as a deployment does: `appendonly yes`, `appendfsync everysec`. */
export class PrivateRedis {
  /** @param {string} url @param {import('node:child_process').ChildProcess} child @param {string} folder */
  constructor(url, child, folder) {
    this.url = url;
    this.folder = folder;
    this.child = child;
    this.client = new Redis(url, { maxRetriesPerRequest: null });
    this.client.on('error', () => undefined); // it may not listen yet
  }

  /** @param {string} folder */
  static async start(folder) {
    const port = await freePort();
    const durable = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''];
    const child = spawn(
      'redis-server',
      ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, ...durable],
      { stdio: 'ignore' },
    );
    await once(child, 'spawn');
    const redis = new PrivateRedis(`redis://127.0.0.1:${port}`, child, folder);
    await redis.client.ping();
    return redis;
  }

  /** Empties the server; gives a data folder that belongs to what begins in it now. */
  async empty() {
    await this.client.flushall();
    return await mkdtemp(join(this.folder, 'data-'));
  }

  /** The server's own CPU time so far, in ms. */
  async cpuMs() {
    const info = await this.client.info('cpu');
    const seconds = ['used_cpu_user', 'used_cpu_sys'].map((name) =>
      Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]),
    );
    return 1000 * seconds.reduce((sum, value) => sum + value, 0);
  }

  /** Calls so far by command, those that scripts make among them. @returns {Promise<Map<string, number>>} */
  async calls() {
    const info = await this.client.info('commandstats');
    return new Map(
      [...info.matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm)].map(([, name = '', calls]) => [
        name,
        Number(calls),
      ]),
    );
  }

  async stop() {
    this.client.disconnect();
    const exit = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exit;
  }
}

/** @returns {Promise<number>} */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
