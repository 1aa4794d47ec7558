import { expect, it } from 'vitest';
import {
  defaultTenant,
  sessionIdSchema,
  sessionTag,
  tagOfTurn,
  tenantSchema,
  turnIdSchema,
} from '../../src/shared/contracts/index.js';
import {
  batchBudgetKeys,
  blobFolderIdKey,
  blobKey,
  collectorKey,
  deploymentKey,
  openSessionsKey,
  queueName,
  queuePrefix,
  referenceOf,
  scheduleQueueName,
  sessionBudgetKeys,
  sessionKeyPattern,
  sessionKeys,
  shaOfBlobKey,
  skillsCountedKey,
  smallBlobPattern,
  sweeperKey,
  tenantBudgetKeys,
  turnBudgetKeys,
  turnKeys,
  usageKeys,
  usageTenantsKey,
  workerKey,
} from '../../src/shared/redis/keys.js';
import { packCounts, unpackCounts } from '../../src/shared/usage/usage-counts.js';

// What stands in Redis is read by the next version's workers: change one of these and old data is lost.
const tenant = tenantSchema.parse('acme');
const sessionId = sessionIdSchema.parse('chat-1');
const tag = '2jp7qp5h065jhu7c';
const turnId = turnIdSchema.parse(`turn_${tag}_00000000000000000001`);

it('the tag of a session', () => {
  expect(sessionTag(tenant, sessionId)).toBe(tag);
  expect(sessionTag(defaultTenant, sessionId)).toBe('qhg5tpcq9gv3vdov');
  expect(tagOfTurn(turnId)).toBe(tag);
  expect(defaultTenant).toBe('default');
});

it('the keys of a session', () => {
  expect(sessionKeys(tenant, tag)).toEqual({
    session: `skillmill:{acme:${tag}}:session`,
    line: `skillmill:{acme:${tag}}:line`,
    delayed: `skillmill:{acme:${tag}}:delayed`,
    steered: `skillmill:{acme:${tag}}:steered`,
    messages: `skillmill:{acme:${tag}}:messages`,
    skillState: `skillmill:{acme:${tag}}:skill-state`,
    artifacts: `skillmill:{acme:${tag}}:artifacts`,
    workspace: `skillmill:{acme:${tag}}:workspace`,
  });
});

it('the keys of a turn', () => {
  expect(turnKeys(tenant, turnId)).toEqual({
    turn: `skillmill:{acme:${tag}}:turn:${turnId}`,
    journal: `skillmill:{acme:${tag}}:turn:${turnId}:journal`,
    events: `skillmill:{acme:${tag}}:turn:${turnId}:events`,
    blobs: `skillmill:{acme:${tag}}:turn:${turnId}:blobs`,
  });
});

it('the keys of budgets', () => {
  const keys = (spent: string) => ({ spent, calls: `${spent}:calls` });
  const inSession = `skillmill:{acme:${tag}}`;
  expect(turnBudgetKeys(tenant, turnId)).toEqual(keys(`${inSession}:turn:${turnId}:budget`));
  expect(sessionBudgetKeys(tenant, tag)).toEqual(keys(`${inSession}:budget`));
  expect(batchBudgetKeys(tenant, 'B.1_x-y')).toEqual(keys('skillmill:{acme:batch:B.1_x-y}:budget'));
  expect(tenantBudgetKeys(tenant, '2026-02')).toEqual(keys('skillmill:{acme}:budget:2026-02'));
});

it('the keys of usage, and what its fields hold', () => {
  expect(usageKeys(tenant, '2026-02-28')).toEqual({
    models: 'skillmill:{acme}:usage:2026-02-28:models',
    sessions: 'skillmill:{acme}:usage:2026-02-28:sessions',
    skills: 'skillmill:{acme}:usage:2026-02-28:skills',
  });
  expect(skillsCountedKey(tenant, turnId)).toBe(`skillmill:{acme}:usage:counted:${turnId}`);
  expect(usageTenantsKey()).toBe('skillmill:usage-tenants');
  const counts = {
    ...{ modelCalls: 1, inputTokens: 2, cachedInputTokens: 3, outputTokens: 4 },
    ...{ microUsd: 5, unpricedCalls: 6, estimatedCalls: 7 },
  };
  expect(packCounts(counts)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(unpackCounts('1 2 3 4 5 6 7 8')).toEqual(counts);
});

it('the keys of a deployment', () => {
  expect(openSessionsKey()).toBe('skillmill:open-sessions');
  expect(blobKey(tenant, 'abc')).toBe('skillmill:acme:blob:abc');
  expect(blobFolderIdKey()).toBe('skillmill:blob-folder-id');
  expect(sweeperKey()).toBe('skillmill:sweeper');
  expect(collectorKey()).toBe('skillmill:collector');
  expect(deploymentKey()).toBe('skillmill:deployment');
  expect(workerKey('w1')).toBe('skillmill:worker:w1');
});

it('the queues', () => {
  expect([queuePrefix, queueName]).toEqual(['{skillmill-queue}', 'turns']);
  expect(scheduleQueueName).toBe('schedules');
});

it('what a collector of garbage looks for, and which keys refer to blobs', () => {
  expect([smallBlobPattern, sessionKeyPattern]).toEqual(['skillmill:*:blob:*', 'skillmill:{*']);
  const sha256 = 'a'.repeat(64);
  expect(shaOfBlobKey(blobKey(tenant, sha256))).toBe(sha256);
  expect(shaOfBlobKey(`skillmill:{acme:${tag}}:blob:${sha256}`)).toBeUndefined();
  const { session, line, delayed, steered, ...kept } = sessionKeys(tenant, tag);
  const { messages, skillState, artifacts, workspace } = kept;
  const { turn, journal, events, blobs } = turnKeys(tenant, turnId);
  const budgets = [
    ...[turnBudgetKeys(tenant, turnId), sessionBudgetKeys(tenant, tag)],
    ...[batchBudgetKeys(tenant, 'B.1'), tenantBudgetKeys(tenant, '2026-02')],
  ].flatMap(({ spent, calls }) => [spent, calls]);
  const { models, sessions, skills } = usageKeys(tenant, '2026-02-28');
  const none = [
    ...[session, line, delayed, steered, messages, skillState, journal, events],
    ...[models, sessions, skills, ...budgets],
  ];
  for (const key of none) expect([key, referenceOf(key)]).toEqual([key, 'none']);
  const kinds = [artifacts, workspace, turn, blobs].map(referenceOf);
  expect(kinds).toEqual(['artifacts', 'workspace', 'turn', 'blobs']);
  expect(referenceOf(`skillmill:{acme:${tag}}:of-a-later-version`)).toBeUndefined();
});
