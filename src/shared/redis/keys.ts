import { tagOfTurn, type Tenant, type TurnId } from '../contracts/index.js';

/**
 * Every Redis key, its owner and its expiry; no other file builds one. Keys of one session share the hash tag
 * `{tenant:tag}`, so that one script may touch them all on a Redis Cluster. BullMQ's keys have a tag of their own.
 */
export interface SessionKeys {
  /** Hash: who the session is, its lease, its fencing token. Owner: scripts. Expires SESSION_TTL after the last turn. */
  readonly session: string;
  /** Sorted set of the turns without a result that are due, by ticket (line-lua.ts). Owner: scripts. Expires as it empties. */
  readonly line: string;
  /** Sorted set of turns that are not due yet, by the time at which they are. Owner: scripts. Expires as it empties. */
  readonly delayed: string;
  /** Sorted set of turns whose message waits to join the running turn, by ticket. Owner: scripts. Expires as it empties. */
  readonly steered: string;
  /** List of messages, JSON each. Owner: commit. Expires with the session. */
  readonly messages: string;
  /** Hash of DESIGN §4.4. Owner: commit. Expires with the session. */
  readonly skillState: string;
  /** List of artifacts, JSON each. Owner: commit. Expires with the session. */
  readonly artifacts: string;
  /** The last workspace version, JSON. Owner: commit. Expires with the session. */
  readonly workspace: string;
}

export interface TurnKeys {
  /** Hash: request, status, attempts, result. Owner: scripts. Expires RESULT_TTL after the result. */
  readonly turn: string;
  /** List of what the turn has done (contracts/journal.ts), JSON each. Owner: append-steps. Goes with a completed turn's commit,
   *  expires with the turn otherwise. */
  readonly journal: string;
  /** Stream of turn events. Owner: scripts. Expires with the turn. */
  readonly events: string;
  /** Set of the blobs that the running turn has stored: garbage to nobody until its commit says which are kept. Owner: the
   *  worker. Expires two days after the last was stored, and an hour after the commit. */
  readonly blobs: string;
}

const root = 'skillmill';

/** The keys of the session with this tag (ids.ts, `sessionTag`). */
export function sessionKeys(tenant: Tenant, tag: string): SessionKeys {
  const base = `${root}:{${tenant}:${tag}}`;
  return {
    session: `${base}:session`,
    line: `${base}:line`,
    delayed: `${base}:delayed`,
    steered: `${base}:steered`,
    messages: `${base}:messages`,
    skillState: `${base}:skill-state`,
    artifacts: `${base}:artifacts`,
    workspace: `${base}:workspace`,
  };
}

/** The keys of a turn; they lie in its session's slot. */
export function turnKeys(tenant: Tenant, turnId: TurnId): TurnKeys {
  const base = `${root}:{${tenant}:${tagOfTurn(turnId)}}:turn:${turnId}`;
  return {
    turn: base,
    journal: `${base}:journal`,
    events: `${base}:events`,
    blobs: `${base}:blobs`,
  };
}

/** What one budget counts: of a turn, a session, a batch or a tenant. Owner: the scripts reserve-call and settle-call. */
export interface BudgetKeys {
  /** Hash: tokens and micro-USD, spent and held for calls in flight. */
  readonly spent: string;
  /** Sorted set of `id:tokens:microUsd` by the time at which the call counts as lost, negative once it has. Expires with `spent`. */
  readonly calls: string;
}

function budgetKeys(base: string): BudgetKeys {
  return { spent: base, calls: `${base}:calls` };
}

/** A turn's budget, in its session's slot. Expires RESULT_TTL and a day after the last call. */
export function turnBudgetKeys(tenant: Tenant, turnId: TurnId): BudgetKeys {
  return budgetKeys(`${turnKeys(tenant, turnId).turn}:budget`);
}

/** A session's budget, in its slot. Expires SESSION_TTL and a day after the last call. */
export function sessionBudgetKeys(tenant: Tenant, tag: string): BudgetKeys {
  return budgetKeys(`${root}:{${tenant}:${tag}}:budget`);
}

/** A batch's budget, in a slot of its own. Expires 400 days after the last call. */
export function batchBudgetKeys(tenant: Tenant, batchId: string): BudgetKeys {
  return budgetKeys(`${root}:{${tenant}:batch:${batchId}}:budget`);
}

/** A tenant's budget of a period (`2026-02`, `2026-02-28`, `total`), in the tenant's slot. Expires 400 days after the last call. */
export function tenantBudgetKeys(tenant: Tenant, period: string): BudgetKeys {
  return budgetKeys(`${root}:{${tenant}}:budget:${period}`);
}

/** What a tenant used on one UTC day: hashes of packed counts, in the tenant's slot. Owner: settle-call, count-skills. */
export interface UsageKeys {
  /** By model. Expires 400 days after the day's last call. */
  readonly models: string;
  /** By `session model`. Expires SESSION_TTL and a day after the day's last call. */
  readonly sessions: string;
  /** By skill. Expires 400 days after the day's last turn. */
  readonly skills: string;
}

/** A tenant's counters of a day, written `2026-02-28`. */
export function usageKeys(tenant: Tenant, day: string): UsageKeys {
  const base = `${root}:{${tenant}}:usage:${day}`;
  return { models: `${base}:models`, sessions: `${base}:sessions`, skills: `${base}:skills` };
}

/** Says that a turn's skills are counted; in the tenant's slot. Owner: count-skills. Expires after a day. */
export function skillsCountedKey(tenant: Tenant, turnId: TurnId): string {
  return `${root}:{${tenant}}:usage:counted:${turnId}`;
}

/** Set of the tenants that have usage. Owner: the ledger. Expires 400 days after the last call of any. */
export function usageTenantsKey(): string {
  return `${root}:usage-tenants`;
}

/** Sorted set of `tenant/tag` with turns that have no result, by when the last was enqueued; what the sweep walks. Owner: the scripts
 *  mark-session and forget-session. No expiry. */
export function openSessionsKey(): string {
  return `${root}:open-sessions`;
}

/** Bytes of a small blob. Owner: blob store. Expires `smallBlobTtl` after it was last put or found in use. */
export function blobKey(tenant: Tenant, sha256: string): string {
  return `${root}:${tenant}:blob:${sha256}`;
}

/** Finds every small blob, of all tenants. */
export const smallBlobPattern = `${root}:*:blob:*`;

/** The SHA-256 in a small blob's key. */
export function shaOfBlobKey(key: string): string | undefined {
  return /^skillmill:[a-z0-9-]+:blob:([0-9a-f]{64})$/.exec(key)?.[1];
}

/** Finds every key of a session or a turn, and tenants' counters. */
export const sessionKeyPattern = `${root}:{*`;

/** How the value of a key refers to blobs. */
export type Reference = 'artifacts' | 'workspace' | 'turn' | 'blobs' | 'none';

const referring: readonly (readonly [RegExp, Reference])[] = [
  [/^artifacts$/, 'artifacts'],
  [/^workspace$/, 'workspace'],
  [/^turn:[^:]+$/, 'turn'],
  [/^turn:[^:]+:blobs$/, 'blobs'],
  [/^(session|line|delayed|steered|messages|skill-state|budget(:calls)?)$/, 'none'],
  [/^turn:[^:]+:(journal|events|budget(:calls)?)$/, 'none'],
];

/** How a key that `sessionKeyPattern` finds refers to blobs; undefined for a session's key that is not of this file. */
export function referenceOf(key: string): Reference | undefined {
  const rest = /^skillmill:\{[^:}]+:[0-9a-z]{16}\}:(.+)$/.exec(key)?.[1];
  // Counters of tenants and batches have other hash tags.
  if (rest === undefined) return 'none';
  return referring.find(([form]) => form.test(rest))?.[1];
}

/** Id of the data folder or bucket that large blobs go to. Owner: first comer, then the workers that use it. Expires 600 s after its last use. */
export function blobFolderIdKey(): string {
  return `${root}:blob-folder-id`;
}

/** Random id of this Redis's deployment, written on sandboxes. Owner: first worker. No expiry. */
export function deploymentKey(): string {
  return `${root}:deployment`;
}

/** The worker that sweeps the lines now. Owner: that worker. Expires after the sweep's interval. */
export function sweeperKey(): string {
  return `${root}:sweeper`;
}

/** The worker that collects garbage in this hour. Owner: that worker. Expires after an hour. */
export function collectorKey(): string {
  return `${root}:collector`;
}

/** A worker's sign of life. Owner: that worker. Expires after 30 s without a beat. */
export function workerKey(workerId: string): string {
  return `${root}:worker:${workerId}`;
}

/** Hash of what each of a worker's sandboxes serves, by the sandbox's name, JSON each. Owner: that worker. Expires 60 s after its last beat. */
export function workerSandboxesKey(workerId: string): string {
  return `${root}:worker:${workerId}:sandboxes`;
}

/** BullMQ's prefix; its braces keep the whole queue in one slot of a cluster. */
export const queuePrefix = `{${root}-queue}`;

/** BullMQ's queue of turns. */
export const queueName = 'turns';

/** BullMQ's queue of schedules; what it keeps of a schedule stays until that is removed. */
export const scheduleQueueName = 'schedules';
