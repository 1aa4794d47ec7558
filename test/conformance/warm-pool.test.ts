import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { createDockerExecutor } from '../../src/worker/executor/docker/docker-executor.js';
import { containersOf, docker, engineAnswers, testImage } from '../support/docker.js';
import { job, never, out, withSandbox } from './executor-harness.js';

const MIB = 1024 * 1024;
const deployment = `test-pool-${randomUUID()}`;
const options = {
  image: testImage,
  limits: { memoryBytes: 256 * MIB, diskBytes: 128 * MIB, cpus: 1, processes: 256 },
  deployment,
  owner: 'w-pool',
};
const poolOf = (size: number, maxAgeMs = 600_000) => ({ size, maxAgeMs, refill: 2 });
const soon = { timeout: 60_000, interval: 100 };

const running = async () => {
  const filters = { label: [`skillmill.deployment=${deployment}`], status: ['running'] };
  return (await docker.listContainers({ filters })).map(({ Id, Labels }) => ({ Id, Labels }));
};

describe.skipIf(!(await engineAnswers()))('the warm pool', () => {
  afterEach(() => expect.poll(() => containersOf(deployment), soon).toEqual([]));

  it('makes nothing before it is told to, and removes what nobody took', async () => {
    const executor = createDockerExecutor({ ...options, pool: poolOf(2) });
    expect(await containersOf(deployment)).toEqual([]);
    executor.warmUp();
    await expect.poll(running, soon).toHaveLength(2);
    for (const { Labels } of await running()) {
      expect(Labels).toMatchObject({ 'skillmill.owner': 'w-pool' });
      expect(Object.keys(Labels)).not.toContain('skillmill.turn');
    }
    expect(await executor.sweep(() => Promise.resolve(true))).toBe(0);
    expect(await running()).toHaveLength(2);
    await Promise.all([executor.close(), executor.close()]);
    executor.warmUp();
    expect(await containersOf(deployment)).toEqual([]);
  });

  it('gives each job a container of its own, removes it after the job and makes another', async () => {
    const executor = createDockerExecutor({ ...options, pool: poolOf(1) });
    try {
      executor.warmUp();
      const taken = new Set<string>();
      while (taken.size < 2) {
        await expect.poll(running, soon).toHaveLength(1);
        const [first] = await running();
        const isHit = await withSandbox(executor, async (sandbox) => {
          expect(await out(sandbox, 'ls; echo mine > f; cat f')).toBe('inputs\nmine\n');
          // One that is running may not be ready yet; then the job got one that is labelled as its own.
          return (await running()).every(({ Labels }) => !('skillmill.turn' in Labels));
        });
        if (!isHit || first === undefined) continue;
        expect(taken.has(first.Id)).toBe(false);
        taken.add(first.Id);
        expect((await running()).map(({ Id }) => Id)).not.toContain(first.Id);
      }
    } finally {
      await executor.close();
    }
  });

  it('replaces one that died and one that is too old', async () => {
    const executor = createDockerExecutor({ ...options, pool: poolOf(1, 8000) });
    try {
      executor.warmUp();
      await expect.poll(running, soon).toHaveLength(1);
      const [first] = await running();
      await docker.getContainer(first?.Id ?? '').kill();
      const isAnother = (than: string | undefined) => async () => {
        const [now] = await running();
        return now !== undefined && now.Id !== than;
      };
      await expect.poll(isAnother(first?.Id), soon).toBe(true);
      const [second] = await running();
      await expect.poll(isAnother(second?.Id), soon).toBe(true);
      await withSandbox(executor, async (sandbox) => {
        expect(await out(sandbox, 'echo lives')).toBe('lives\n');
      });
    } finally {
      await executor.close();
    }
  });

  it('is removed by another worker when its own is gone, and the containers end by themselves', async () => {
    const dead = createDockerExecutor({ ...options, owner: 'w-dead', pool: poolOf(1) });
    dead.warmUp();
    await expect.poll(running, soon).toHaveLength(1);
    const other = createDockerExecutor({ ...options, owner: 'w-other' });
    expect(await other.sweep((owner) => Promise.resolve(owner === 'w-dead'))).toBe(0);
    expect(await other.sweep(() => Promise.resolve(false))).toBe(1);
    await dead.close();
  });

  it('tells what each sandbox serves, and makes one of another image for who names it', async () => {
    const told: [string, string | undefined][] = [];
    const onServing = (name: string, served?: { turnId: string }) =>
      void told.push([name, served?.turnId]);
    const executor = createDockerExecutor({ ...options, pool: poolOf(1), onServing });
    try {
      executor.warmUp();
      await expect.poll(running, soon).toHaveLength(1);
      await withSandbox(executor, () => Promise.resolve());
      const names = new Set(told.map(([name]) => name));
      expect([names.size, told.map(([, turnId]) => turnId)]).toEqual([1, ['turn-1', undefined]]);
      const opening = executor.open({ ...job, image: 'no-such-image:1' }, never);
      await expect(opening).rejects.toThrow(/no-such-image/);
    } finally {
      await executor.close();
    }
  });

  it.each([
    [{ network: 'no-such-network' }, /no network no-such-network/],
    [{ runtime: 'no-such-runtime' }, /no runtime no-such-runtime \(it has .*runc/],
  ])('%j is refused at the start', async (shape, message) => {
    const executor = createDockerExecutor({ ...options, ...shape });
    await expect(executor.check()).rejects.toThrow(message);
  });

  it('may be on a network that the operator names', async () => {
    const name = `skillmill-${randomUUID()}`;
    const network = await docker.createNetwork({ Name: name, Internal: true });
    const executor = createDockerExecutor({ ...options, network: name, runtime: 'runc' });
    try {
      await executor.check();
      await withSandbox(executor, async (sandbox) => {
        expect(await out(sandbox, 'ls /sys/class/net')).toBe('eth0\nlo\n');
      });
    } finally {
      await network.remove();
    }
  });

  it('does not keep an opening waiting when it is empty', async () => {
    const executor = createDockerExecutor({ ...options, pool: poolOf(1) });
    try {
      const sandboxes = await Promise.all([1, 2].map(() => executor.open(job, never)));
      for (const sandbox of sandboxes) {
        expect(await out(sandbox, 'echo own')).toBe('own\n');
        await sandbox.close();
      }
    } finally {
      await executor.close();
    }
  });
});
