import {
  GenericContainer,
  Network,
  type StartedNetwork,
  type StartedTestContainer,
} from 'testcontainers';
import { startScriptedModel, type Step } from '../../examples/scripted-model.js';
import { docker, socketGroup } from './docker.js';
import { redisImage } from './redis-server.js';

const workerImage = 'skillmill/worker:0.1.0';

/** Client and workers in containers of their own, nothing in common but the network and a Redis Cluster of three nodes. */
export interface SplitWorld {
  readonly model: Awaited<ReturnType<typeof startScriptedModel>>;
  script(beginning: string, steps: Step[]): void;
  /** Starts a worker whose skill root holds these files. */
  worker(skills: Record<string, string>): Promise<StartedTestContainer>;
  /** Runs shell text in the client's container, where `skillmill` is on the PATH. */
  client(
    shell: string,
    env?: Record<string, string>,
  ): Promise<{ code: number; output: string; stderr: string }>;
  close(): Promise<void>;
}

/** Starts the network, the cluster, the model and the client's container. */
export async function openSplitWorld(): Promise<SplitWorld> {
  const network = await new Network().start();
  const started: StartedTestContainer[] = [];
  const keep = async (container: GenericContainer) => {
    const running = await container.withNetwork(network).start();
    started.push(running);
    return running;
  };
  const scripts = new Map<string, Step[]>();
  const model = await startScriptedModel(
    (text) => [...scripts].find(([beginning]) => text.startsWith(beginning))?.[1],
    { host: '0.0.0.0' },
  );
  const redisUrls = await startCluster(keep, network);
  const env = {
    REDIS_URL: redisUrls,
    OPENAI_BASE_URL: `http://${await gatewayOf(network)}:${model.port}/v1`,
    OPENAI_MODEL: 'scripted',
    SKILLS_ROOT: '/tmp/skills',
  };
  const client = await keep(
    new GenericContainer(workerImage)
      .withEntrypoint(['sleep', 'infinity'])
      .withCommand([])
      .withEnvironment({ REDIS_URL: redisUrls }),
  );
  const group = await socketGroup();
  return {
    model,
    script: (beginning, steps) => void scripts.set(beginning, steps),
    worker: (skills) =>
      keep(
        new GenericContainer(workerImage)
          .withEnvironment(env)
          .withUser(`1000:${group}`)
          .withBindMounts([{ source: '/var/run/docker.sock', target: '/var/run/docker.sock' }])
          .withCopyContentToContainer(
            Object.entries(skills).map(([path, content]) => ({
              content,
              target: `/tmp/skills/${path}`,
              mode: 0o755,
            })),
          ),
      ),
    async client(shell, more = {}) {
      const prelude = 'skillmill() { node /app/dist/skillmill.js "$@"; }; cd /tmp; ';
      const result = await client.exec(['sh', '-c', prelude + shell], { env: more });
      return { code: result.exitCode, output: result.stdout, stderr: result.stderr };
    },
    async close() {
      for (const container of started.reverse()) await container.stop({ timeout: 10_000 });
      await removeSandboxesOf(started.map((container) => container.getId()));
      await network.stop();
      await model.close();
    },
  };
}

/** What killed workers left: their deployment is gone with its Redis, so no other worker will sweep it. */
async function removeSandboxesOf(hosts: readonly string[]): Promise<void> {
  for (const { Id, Labels } of await docker.listContainers({ all: true })) {
    const host = Labels['skillmill.owner']?.split('-')[0] ?? 'none';
    if (hosts.some((id) => id.startsWith(host))) {
      await docker.getContainer(Id).remove({ force: true });
    }
  }
}

async function startCluster(
  keep: (container: GenericContainer) => Promise<StartedTestContainer>,
  network: StartedNetwork,
): Promise<string> {
  const nodes = await Promise.all(
    [1, 2, 3].map(() =>
      keep(
        new GenericContainer(redisImage).withCommand(
          'redis-server --cluster-enabled yes --protected-mode no --appendonly yes'.split(' '),
        ),
      ),
    ),
  );
  const addresses = nodes.map((node) => `${node.getIpAddress(network.getName())}:6379`);
  const made = await nodes[0]?.exec([
    'redis-cli',
    '--cluster',
    'create',
    ...addresses,
    '--cluster-yes',
  ]);
  if (made?.exitCode !== 0) throw new Error(`no cluster: ${made?.output ?? ''}`);
  return addresses.map((address) => `redis://${address}`).join(',');
}

async function gatewayOf(network: StartedNetwork): Promise<string> {
  const found = (await docker.getNetwork(network.getId()).inspect()) as {
    IPAM: { Config: { Gateway: string }[] };
  };
  return found.IPAM.Config[0]?.Gateway ?? '';
}
