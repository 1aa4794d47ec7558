import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { createDockerExecutor } from '../../src/worker/executor/docker/docker-executor.js';
import { containersOf, docker } from '../support/docker.js';
import {
  file,
  job,
  never,
  onceOutput,
  out,
  readAll,
  sh,
  withSandbox,
  type ExecutorHarness,
} from './executor-harness.js';

const lost = { code: 'SANDBOX_UNAVAILABLE', details: { lost: true } };

/** As the out-of-memory killer does. */
async function killTar(container: string): Promise<void> {
  const line =
    'for p in /proc/[0-9]*; do [[ $(<$p/comm) == tar ]] && kill -KILL ${p#/proc/}; done; true';
  const Cmd = ['bash', '-c', line];
  const exec = await docker.getContainer(container).exec({ Cmd, User: '1000', AttachStdout: true });
  const stream = await exec.start({});
  stream.resume();
  await once(stream, 'end');
}

/** What happens when a container goes, or when the engine fails. */
export function engineSuite(
  harness: ExecutorHarness,
  options: Parameters<typeof createDockerExecutor>[0],
): void {
  const executor = harness.makeExecutor();

  afterEach(async () => expect(await harness.leftovers()).toEqual([]));

  describe('a container that goes', () => {
    it('in the middle of a command is a lost sandbox, then and later', async () => {
      const sandbox = await executor.open(job, never);
      const [name = ''] = await containersOf(options.deployment);
      const remove = () => void docker.getContainer(name.slice(1)).remove({ force: true });
      await expect(
        sh(sandbox, 'echo begun; sleep 60', {}, onceOutput('begun', remove)),
      ).rejects.toMatchObject(lost);
      await expect(sh(sandbox, 'echo no')).rejects.toMatchObject(lost);
      await expect(sandbox.put([file('work/f', '')], 'command')).rejects.toMatchObject(lost);
      await expect(sandbox.list(['out'], 1)).rejects.toMatchObject(lost);
      await expect(readAll(sandbox, ['out/f'])).rejects.toMatchObject(lost);
      await sandbox.close();
      // The engine was removing it already when close asked.
      await expect.poll(() => harness.leftovers(), { timeout: 10_000 }).toEqual([]);
    });

    it('between commands is a lost sandbox', async () => {
      const sandbox = await executor.open(job, never);
      const [name = ''] = await containersOf(options.deployment);
      await docker.getContainer(name.slice(1)).remove({ force: true });
      await expect(sandbox.list(['out'], 1)).rejects.toThrow(/^The sandbox was lost: the channel/);
      await expect(readAll(sandbox, ['out/f'])).rejects.toMatchObject(lost);
      await Promise.all([sandbox.close(), sandbox.close()]);
    });
  });

  describe('files whose reading is cut short', () => {
    it('are no files that cannot be read: the sandbox is given up, and a snapshot fails', async () => {
      await withSandbox(executor, async (sandbox) => {
        const line = 'for n in {1..40}; do head -c 1000000 /dev/zero > f$n; done';
        await out(sandbox, line);
        const tree = await sandbox.scan(['work']);
        const files = tree.entries.filter((entry) => entry.kind === 'file');
        const [name = ''] = await containersOf(options.deployment);
        const reading = (async () => {
          let isKilled = false;
          for await (const each of sandbox.fetch(files, tree)) {
            if ('error' in each) throw new Error(`${each.path} counts as unreadable`);
            if (!isKilled) await killTar(name.slice(1));
            isKilled = true;
            await buffer(each.content);
          }
        })();
        await expect(reading).rejects.toMatchObject(lost);
      });
    });
  });

  describe('a sandbox past its expiry', () => {
    it('is removed by whoever sweeps', async () => {
      const deployment = `${options.deployment}-other`;
      const other = createDockerExecutor({ ...options, deployment, maxLifetimeMs: 0 });
      const lasting = createDockerExecutor({ ...options, deployment });
      await other.open(job, never); // any worker that sweeps meanwhile may remove it too
      await withSandbox(lasting, async (sandbox) => {
        await executor.sweep(() => Promise.resolve(true));
        await expect.poll(() => containersOf(deployment), { timeout: 10_000 }).toHaveLength(1);
        expect(await out(sandbox, 'echo lives')).toBe('lives\n');
      });
      expect(await containersOf(deployment)).toEqual([]);
    });
  });

  describe('an engine that does not answer', () => {
    it('does not keep an opening from being aborted', async () => {
      const connections = new Set<Socket>();
      const server = createServer((socket) => connections.add(socket)).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const address = server.address();
      if (address === null || typeof address === 'string') throw new Error('it has no port');
      const warned: string[] = [];
      const silent = createDockerExecutor({
        ...options,
        dockerHost: `tcp://127.0.0.1:${address.port}`,
        log: (_level, message) => warned.push(message),
      });
      const controller = new AbortController();
      const reason = new Error('cancelled');
      server.once('connection', () => controller.abort(reason));
      await expect(silent.open(job, controller.signal)).rejects.toBe(reason);
      expect(warned).toEqual([]); // it still waits for the engine
      server.close();
      for (const socket of connections) socket.destroy();
      await expect.poll(() => warned).toEqual([expect.stringContaining('not be removed either')]);
    });
  });

  describe('what is needed', () => {
    it('is checked: the engine and the image', async () => {
      await executor.check();
      const noImage = createDockerExecutor({ ...options, image: 'skillmill/none:0' });
      await expect(noImage.check()).rejects.toThrow(
        /no image skillmill\/none:0.*docker compose --profile build build runner/,
      );
      await expect(noImage.open(job, never)).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
      for (const dockerHost of ['unix:///nowhere/docker.sock', 'tcp://127.0.0.1:1']) {
        const noEngine = createDockerExecutor({ ...options, dockerHost });
        await expect(noEngine.check()).rejects.toThrow(dockerHost);
        await expect(noEngine.open(job, never)).rejects.toMatchObject({
          code: 'SANDBOX_UNAVAILABLE',
        });
      }
    });
  });
}
