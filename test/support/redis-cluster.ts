import { Redis } from 'ioredis';
import { GenericContainer, Wait } from 'testcontainers';
import { eventually } from './eventually.js';
import { freePort, redisImage, startRedis, type TestRedis } from './redis-server.js';

const slots = 16_384;
const nodes = 3;

export interface TestCluster {
  readonly urls: readonly string[];
  stop(): Promise<void>;
}

/** A Redis Cluster of three masters: private servers where there is a `redis-server`, else containers in the host's network. */
export async function startRedisCluster(): Promise<TestCluster> {
  const servers = await startNodes();
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  try {
    await join(servers);
  } catch (error) {
    await stop();
    throw error;
  }
  return { urls: servers.map(({ url }) => url), stop };
}

async function join(servers: readonly TestRedis[]): Promise<void> {
  const clients = servers.map(({ url }) => new Redis(url));
  const [first] = servers;
  try {
    const seed = new URL(first?.url ?? '');
    await Promise.all(
      clients.map(async (client, index) => {
        const from = Math.floor((slots / nodes) * index);
        const to = Math.floor((slots / nodes) * (index + 1)) - 1;
        await client.call('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
        await client.call('CLUSTER', 'ADDSLOTSRANGE', String(from), String(to));
        if (index > 0) await client.call('CLUSTER', 'MEET', seed.hostname, seed.port);
      }),
    );
    await eventually('a cluster that agrees on its slots', async () => {
      const states = await Promise.all(
        clients.map(async (client) => String(await client.call('CLUSTER', 'INFO'))),
      );
      const whole = [`cluster_known_nodes:${nodes}`, 'cluster_state:ok'];
      return states.every((state) => whole.every((line) => state.includes(line)))
        ? true
        : undefined;
    });
  } finally {
    for (const client of clients) client.disconnect();
  }
}

async function startNodes(): Promise<TestRedis[]> {
  const options = ['--cluster-enabled', 'yes'];
  const first = await startRedis(options);
  // A container's port as the host sees it is not the one that the cluster would name.
  if (await announcesItsPort(first)) {
    const rest = await Promise.all([startRedis(options), startRedis(options)]);
    return [first, ...rest];
  }
  await first.stop();
  return Promise.all(Array.from({ length: nodes }, startNodeInHostNetwork));
}

async function announcesItsPort({ url }: TestRedis): Promise<boolean> {
  const client = new Redis(url);
  try {
    const [, port] = (await client.config('GET', 'port')) as [string, string];
    return port === new URL(url).port;
  } finally {
    client.disconnect();
  }
}

async function startNodeInHostNetwork(): Promise<TestRedis> {
  const port = await freePort();
  const container = await new GenericContainer(redisImage)
    .withNetworkMode('host')
    .withCommand(
      `redis-server --port ${port} --cluster-enabled yes --protected-mode no --save ""`.split(' '),
    )
    .withWaitStrategy(Wait.forLogMessage('Ready to accept connections'))
    .start();
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: async () => {
      await container.stop();
    },
  };
}
