import type { Cluster } from 'ioredis';
import { SkillmillError } from '../errors/skillmill-error.js';
import { isCluster, redisError, type RedisClient } from './redis-client.js';

const perStep = 1000;
const allSlots = 16_384;

interface Node {
  scan(
    cursor: string,
    match: 'MATCH',
    pattern: string,
    count: 'COUNT',
    n: number,
  ): Promise<[cursor: string, keys: string[]]>;
}

/**
 * Goes through all keys of a pattern, on every master of a cluster. What is there from beginning to end is given at least once.
 * @throws SkillmillError REDIS_UNAVAILABLE, also when keys may have moved from node to node meanwhile
 */
export async function* scanKeys(client: RedisClient, pattern: string): AsyncGenerator<string[]> {
  if (!isCluster(client)) {
    yield* scanNode(client, pattern);
    return;
  }
  const before = await slotsByNode(client);
  for (const node of client.nodes('master')) yield* scanNode(node, pattern);
  if ((await slotsByNode(client)) !== before) throw slotsMove();
}

async function* scanNode(node: Node, pattern: string): AsyncGenerator<string[]> {
  let cursor = '0';
  do {
    const [next, keys] = await node
      .scan(cursor, 'MATCH', pattern, 'COUNT', perStep)
      .catch((error: unknown) => {
        throw redisError(error);
      });
    cursor = next;
    if (keys.length > 0) yield keys;
  } while (cursor !== '0');
}

/** Which node has which slots, by the masters' own word; all of them have to be somewhere, and none on its way. */
async function slotsByNode(cluster: Cluster): Promise<string> {
  const tables = await Promise.all(cluster.nodes('master').map((node) => node.cluster('NODES')));
  const lines = tables.map((table) => ownLine(String(table))).sort();
  const ranges = lines.flatMap((line) => line.split(' ').slice(1));
  if (ranges.some((range) => range.startsWith('['))) throw slotsMove();
  const sizes = ranges.map((range) => {
    const [from = 0, to = from] = range.split('-').map(Number);
    return to - from + 1;
  });
  if (sizes.reduce((sum, size) => sum + size, 0) !== allSlots) throw slotsMove();
  return lines.join('\n');
}

/** The node's id and its slots. */
function ownLine(table: string): string {
  const [id = '', ...fields] =
    table
      .split('\n')
      .find((line) => line.includes('myself'))
      ?.trim()
      .split(' ') ?? [];
  return [id, ...fields.slice(7)].join(' ');
}

function slotsMove(): SkillmillError {
  return new SkillmillError(
    'REDIS_UNAVAILABLE',
    'The Redis Cluster is not whole or moves its slots, so its keys cannot all be seen. Try again when it is done.',
  );
}
