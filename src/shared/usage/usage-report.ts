import { z } from 'zod';
import { sessionIdSchema, tenantSchema, type Tenant } from '../contracts/index.js';
import { describeFaults, inputFaults } from '../errors/describe-issues.js';
import { SkillmillError } from '../errors/skillmill-error.js';
import { usageKeys, usageTenantsKey } from '../redis/keys.js';
import { redisError, type RedisClient } from '../redis/redis-client.js';
import { microsPerUsd } from './prices.js';
import { addUsage, noUsage, unpackCounts, type UsageCounts } from './usage-counts.js';
import { dayMs, dayOf } from './utc-day.js';

/** What a report may be split by. */
export const usageDimensions = ['model', 'session', 'skill', 'tenant'] as const;

const usualDays = 30;
const maxDays = 400;

const day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a date such as 2026-02-28')
  .refine((text) => {
    const at = Date.parse(text);
    return !Number.isNaN(at) && dayOf(at) === text;
  }, 'must be a date that exists');

const querySchema = z.strictObject({
  by: z.enum(usageDimensions, `must be ${usageDimensions.join(', ')}`).default('model'),
  since: day.optional(),
  until: day.optional(),
  sessionId: sessionIdSchema.optional(),
  tenant: tenantSchema.optional(),
});

/** What a report is to be of: UTC days (`2026-02-28`), both included, by default the last 30; and whose usage. */
export type UsageQuery = z.input<typeof querySchema>;

/** One line of a report, or its sum. */
export interface UsageRow {
  readonly name: string;
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  /** Null when no call had a price. */
  readonly costUsd: number | null;
  /** Calls of models without a price; they are not in `costUsd`. */
  readonly unpricedCalls: number;
  /** Calls whose tokens a tokenizer counted, since the endpoint did not. */
  readonly estimatedCalls: number;
}

export interface UsageReport {
  readonly by: (typeof usageDimensions)[number];
  readonly since: string;
  readonly until: string;
  /** Most tokens first. */
  readonly rows: readonly UsageRow[];
  /** Null by skill: a turn counts for each skill that it used. */
  readonly total: UsageRow | null;
}

/** Reads what was used. @throws SkillmillError INPUT_INVALID naming every fault, REDIS_UNAVAILABLE */
export async function readUsage(
  client: RedisClient,
  tenant: Tenant,
  asked: unknown,
): Promise<UsageReport> {
  const query = checkQuery(asked);
  const { by, since, until } = query;
  const days = daysBetween(since, until);
  const sums = new Map<string, UsageCounts>();
  try {
    for (const whose of await tenantsOf(client, query, tenant)) {
      // A day's hash is read in pages, so that Redis is never held up; the days of a tenant together.
      const read = await Promise.all(days.map((date) => readDay(client, whose, query, date)));
      for (const [name, counts] of read.flat()) {
        sums.set(name, addUsage(sums.get(name) ?? noUsage, counts));
      }
    }
  } catch (error) {
    throw redisError(error);
  }
  const rows = [...sums].map(([name, counts]) => rowOf(name, counts)).sort(mostTokensFirst);
  const total =
    by === 'skill' ? null : rowOf('total', [...sums.values()].reduce(addUsage, noUsage));
  return { by, since, until, rows, total };
}

type Query = z.output<typeof querySchema> & { readonly since: string; readonly until: string };

function checkQuery(asked: unknown): Query {
  const parsed = querySchema.safeParse(asked);
  if (!parsed.success) throw wrong(describeFaults(inputFaults(parsed.error)));
  const { by, sessionId, since: from, until = dayOf(Date.now()) } = parsed.data;
  const since = from ?? dayOf(Date.parse(until) - (usualDays - 1) * dayMs);
  if (since > until) throw wrong(`since: ${since} is after ${until}`);
  if (daysBetween(since, until).length > maxDays) {
    throw wrong(`since: usage is kept for ${maxDays} days; ask for so many at most`);
  }
  if (sessionId !== undefined && (by === 'skill' || by === 'tenant')) {
    throw wrong(`sessionId: usage by ${by} is not kept by session; ask by session or model`);
  }
  return { ...parsed.data, since, until };
}

function wrong(faults: string): SkillmillError {
  return new SkillmillError('INPUT_INVALID', `The usage query is not valid: ${faults}.`);
}

function daysBetween(since: string, until: string): string[] {
  const first = Date.parse(since);
  const count = Math.round((Date.parse(until) - first) / dayMs) + 1;
  return Array.from({ length: count }, (_, index) => dayOf(first + index * dayMs));
}

async function tenantsOf(client: RedisClient, query: Query, own: Tenant): Promise<Tenant[]> {
  if (query.tenant !== undefined) return [query.tenant];
  if (query.by !== 'tenant') return [own];
  return z.array(tenantSchema).parse(await client.smembers(usageTenantsKey()));
}

async function readDay(
  client: RedisClient,
  tenant: Tenant,
  { by, sessionId }: Query,
  date: string,
): Promise<[string, UsageCounts][]> {
  const keys = usageKeys(tenant, date);
  const counted = (fields: Map<string, string>, nameOf: (field: string) => string) =>
    [...fields].map(([field, text]): [string, UsageCounts] => [nameOf(field), unpackCounts(text)]);
  if (by === 'skill') return counted(await readHash(client, keys.skills), (name) => name);
  if (by === 'session' || sessionId !== undefined) {
    const fields = await readHash(client, keys.sessions, sessionId && `${sessionId} *`);
    const part = by === 'session' ? 0 : 1;
    return counted(fields, (field) => splitOnce(field)[part]);
  }
  return counted(await readHash(client, keys.models), (name) => (by === 'tenant' ? tenant : name));
}

/** `session model`: a session's id holds no space, a model's name may. */
function splitOnce(field: string): [string, string] {
  const at = field.indexOf(' ');
  return [field.slice(0, at), field.slice(at + 1)];
}

async function readHash(
  client: RedisClient,
  key: string,
  pattern = '*',
): Promise<Map<string, string>> {
  const fields = new Map<string, string>();
  let cursor = '0';
  do {
    const [next, page] = await client.hscan(key, cursor, 'MATCH', pattern, 'COUNT', 1000);
    for (let at = 0; at + 1 < page.length; at += 2) fields.set(page[at] ?? '', page[at + 1] ?? '');
    cursor = next;
  } while (cursor !== '0');
  return fields;
}

function rowOf(name: string, counts: UsageCounts): UsageRow {
  const { microUsd, ...rest } = counts;
  const isUnpriced = counts.modelCalls > 0 && counts.unpricedCalls === counts.modelCalls;
  return { name, ...rest, costUsd: isUnpriced ? null : microUsd / microsPerUsd };
}

function mostTokensFirst(a: UsageRow, b: UsageRow): number {
  const tokens = (row: UsageRow) => row.inputTokens + row.outputTokens;
  return tokens(b) - tokens(a) || (a.name < b.name ? -1 : 1);
}
