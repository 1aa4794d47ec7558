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
  blobFolderIdKey,
  blobKey,
  deploymentKey,
  openSessionsKey,
  queueName,
  queuePrefix,
  sessionKeys,
  turnKeys,
  workerKey,
} from '../../src/shared/redis/keys.js';

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
    messages: `skillmill:{acme:${tag}}:messages`,
    skillState: `skillmill:{acme:${tag}}:skill-state`,
    artifacts: `skillmill:{acme:${tag}}:artifacts`,
  });
});

it('the keys of a turn', () => {
  expect(turnKeys(tenant, turnId)).toEqual({
    turn: `skillmill:{acme:${tag}}:turn:${turnId}`,
    events: `skillmill:{acme:${tag}}:turn:${turnId}:events`,
  });
});

it('the keys of a deployment', () => {
  expect(openSessionsKey()).toBe('skillmill:open-sessions');
  expect(blobKey(tenant, 'abc')).toBe('skillmill:acme:blob:abc');
  expect(blobFolderIdKey()).toBe('skillmill:blob-folder-id');
  expect(deploymentKey()).toBe('skillmill:deployment');
  expect(workerKey('w1')).toBe('skillmill:worker:w1');
});

it('the queue', () => {
  expect([queuePrefix, queueName]).toEqual(['{skillmill-queue}', 'turns']);
});
