import { z } from 'zod';
import { SkillmillError } from '../shared/errors/skillmill-error.js';
import type { Logger } from '../shared/logging/logger.js';
import { mastersOf, type RedisClient, type RedisNode } from '../shared/redis/redis-client.js';

const settings = ['maxmemory-policy', 'appendonly', 'appendfsync'] as const;
type Setting = (typeof settings)[number];

export interface RedisPolicy {
  /** Is a Redis that may throw keys away put up with? */
  readonly allowEviction: boolean;
}

/**
 * Refuses a Redis that may throw keys away: a queue that loses any of them loses turns. Warns of one that keeps
 * nothing on disk. A provider that forbids CONFIG cannot be asked; then there is only a warning.
 * @throws SkillmillError CONFIG_INVALID
 */
export async function checkRedisPolicy(
  client: RedisClient,
  { allowEviction }: RedisPolicy,
  logger: Logger,
): Promise<void> {
  const answers = await Promise.all(mastersOf(client).map(readSettings));
  if (answers.includes(undefined)) {
    logger.log(
      'warn',
      'could not check Redis’ maxmemory-policy and appendonly; they must be noeviction and yes',
    );
  }
  const known = answers.filter((answer) => answer !== undefined);
  checkEviction(
    known.map((answer) => answer['maxmemory-policy']),
    allowEviction,
    logger,
  );
  if (known.some((answer) => answer.appendonly === 'no')) {
    logger.log(
      'warn',
      'Redis keeps no append-only file: when it stops, every turn since its last snapshot is lost. Turn it on: redis-cli CONFIG SET appendonly yes',
    );
  } else if (known.some((answer) => answer.appendfsync !== 'always')) {
    logger.log(
      'info',
      'a crash of Redis’ machine can lose the last second; appendfsync always rules that out',
      { appendfsync: known.map((answer) => answer.appendfsync) },
    );
  }
}

function checkEviction(
  policies: readonly (string | undefined)[],
  allowEviction: boolean,
  logger: Logger,
): void {
  const policy = policies.find((found) => found !== undefined && found !== 'noeviction');
  if (policy === undefined) return;
  const fault = `Redis has maxmemory-policy ${policy}, so it may throw turns away. Set it to noeviction: redis-cli CONFIG SET maxmemory-policy noeviction`;
  if (allowEviction) {
    logger.log('warn', fault);
    return;
  }
  throw new SkillmillError(
    'CONFIG_INVALID',
    `${fault}. SKILLMILL_ALLOW_EVICTION=1 starts the worker all the same.`,
  );
}

/** One server's settings; undefined when it does not tell. */
async function readSettings(
  node: RedisNode,
): Promise<Partial<Record<Setting, string>> | undefined> {
  const read = async (name: Setting) => {
    const [, value] = z.array(z.string()).parse(await node.config('GET', name));
    return [name, value] as const;
  };
  try {
    return Object.fromEntries(await Promise.all(settings.map(read)));
  } catch {
    return undefined;
  }
}
