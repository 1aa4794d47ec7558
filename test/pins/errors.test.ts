import { expect, it } from 'vitest';
import { errorPolicies } from '../../src/shared/errors/error-code.js';
import { SkillmillError } from '../../src/shared/errors/skillmill-error.js';

// [code, retryable, exit code]. A code may be added; none is ever renamed, removed or given another meaning.
const pinned: [string, boolean, number][] = [
  ['ARTIFACT_NOT_FOUND', false, 2],
  ['BLOB_CORRUPT', false, 1],
  ['BLOB_NOT_FOUND', true, 3],
  ['BLOB_UNAVAILABLE', true, 3],
  ['CANCELLED', false, 130],
  ['COMMAND_TIMEOUT', false, 1],
  ['CONFIG_INVALID', false, 2],
  ['CONTENT_FILTERED', false, 1],
  ['CONTEXT_OVERFLOW', false, 1],
  ['DOWNLOAD_FAILED', true, 1],
  ['HANDED_OVER', true, 1],
  ['INPUT_INVALID', false, 2],
  ['INTERNAL', true, 1],
  ['LEASE_LOST', true, 1],
  ['LIMIT_EXCEEDED', false, 1],
  ['LOOP_DETECTED', false, 1],
  ['MODEL_PROTOCOL', false, 1],
  ['MODEL_REJECTED', false, 1],
  ['MODEL_UNAVAILABLE', true, 1],
  ['OUTPUT_INVALID', false, 1],
  ['REDIS_UNAVAILABLE', true, 3],
  ['SANDBOX_UNAVAILABLE', true, 3],
  ['SESSION_BUSY', true, 1],
  ['SESSION_NOT_FOUND', false, 2],
  ['SKILL_INVALID', false, 1],
  ['SKILL_NOT_FOUND', false, 1],
  ['SKILL_NOT_LOADED', false, 1],
  ['SKILL_UNAVAILABLE', false, 1],
  ['TOOL_FAILED', false, 1],
  ['TOOL_INPUT_INVALID', false, 1],
  ['TOOL_NOT_ACTIVE', false, 1],
  ['TOOL_NOT_FOUND', false, 1],
  ['TURN_NOT_FINISHED', false, 1],
  ['TURN_NOT_FOUND', false, 2],
  ['WORKER_LOST', true, 1],
];

it('error codes, what may be tried again, exit codes', () => {
  const actual = Object.entries(errorPolicies).map(([code, { retryable, exitCode }]) => [
    code,
    retryable,
    exitCode,
  ]);
  expect(actual.sort()).toEqual(pinned);
});

it('what fails an attempt, so that the turn is tried again', () => {
  const failing = Object.entries(errorPolicies).filter(([, policy]) => policy.failsAttempt);
  expect(failing.map(([code]) => code).sort()).toEqual([
    ...[
      'BLOB_NOT_FOUND',
      'BLOB_UNAVAILABLE',
      'INTERNAL',
      'REDIS_UNAVAILABLE',
      'SANDBOX_UNAVAILABLE',
    ],
  ]);
});

it('an error’s public form', () => {
  const plain = new SkillmillError('MODEL_UNAVAILABLE', 'It is away.', { cause: new Error('x') });
  expect(plain.toPublic()).toEqual({
    code: 'MODEL_UNAVAILABLE',
    message: 'It is away.',
    retryable: true,
  });
  const detailed = new SkillmillError('INPUT_INVALID', 'No.', { details: { faults: [] } });
  expect(detailed.toPublic()).toEqual({
    code: 'INPUT_INVALID',
    message: 'No.',
    retryable: false,
    details: { faults: [] },
  });
});
