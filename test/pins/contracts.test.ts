import { expect, it } from 'vitest';
import {
  contractJsonSchema,
  contractNames,
  formatArtifactRef,
  isContractName,
  type ContractName,
} from '../../src/shared/contracts/index.js';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
}

const schemaOf = (name: ContractName): Schema => contractJsonSchema(name);
const fieldsOf = (schema: Schema | undefined): string[] =>
  Object.keys(schema?.properties ?? {}).map((name) =>
    schema?.required?.includes(name) === true ? name : `${name}?`,
  );

it('the names of the published contracts', () => {
  expect(contractNames).toEqual(['turn-request', 'turn-result', 'turn-event', 'artifact']);
  expect(['turn-requests', 'toString', ''].filter(isContractName)).toEqual([]);
});

it('turn-request: its fields, and no others are taken', () => {
  const schema = schemaOf('turn-request');
  expect(fieldsOf(schema)).toEqual([
    'sessionId?',
    'input',
    'files?',
    'skills?',
    'allowedSkills?',
    'allowedTools?',
    'instructions?',
    'model?',
    'temperature?',
    'maxOutputTokens?',
    'responseFormat?',
    'limits?',
    'onBusy?',
    'idempotencyKey?',
    'priority?',
    'delayMs?',
    'batchId?',
    'metadata?',
  ]);
  expect(schema.additionalProperties).toBe(false);
  const { limits, files, skills, onBusy, priority } = schema.properties ?? {};
  expect(onBusy?.enum).toEqual(['queue', 'reject', 'interrupt', 'steer']);
  expect(priority?.enum).toEqual(['high', 'normal', 'low']);
  expect(fieldsOf(limits)).toEqual([
    'turnTimeoutMs?',
    'maxModelCalls?',
    'maxToolCalls?',
    'maxTotalTokens?',
    'maxCostUsd?',
  ]);
  expect(files?.items?.anyOf?.map(fieldsOf)).toEqual([
    ['path', 'content'],
    ['path', 'base64'],
    ['path', 'url', 'sha256?'],
    ['path', 'artifact'],
  ]);
  expect(skills?.items?.anyOf?.map(fieldsOf)).toEqual([[], ['name', 'docs?']]);
});

it('turn-result: its fields', () => {
  const schema = schemaOf('turn-result');
  expect(fieldsOf(schema)).toEqual([
    ...['turnId', 'sessionId', 'status', 'output', 'parsed?', 'error', 'toolCalls', 'artifacts'],
    ...['usage', 'timings', 'attempts', 'skills', 'retryOf?', 'mergedInto?', 'metadata'],
  ]);
  const { status, usage, timings, toolCalls, skills, error } = schema.properties ?? {};
  expect(status?.enum).toEqual(['completed', 'failed', 'cancelled']);
  expect(fieldsOf(usage)).toEqual([
    ...['modelCalls', 'toolCalls', 'inputTokens', 'cachedInputTokens', 'outputTokens'],
    ...['estimated?', 'costUsd?'],
  ]);
  expect(fieldsOf(timings)).toEqual(['queuedMs', 'modelMs', 'toolMs', 'totalMs']);
  expect(fieldsOf(skills?.items)).toEqual(['name', 'digest']);
  expect(fieldsOf(error?.anyOf?.[0])).toEqual(['code', 'message', 'retryable', 'details?']);
  expect(fieldsOf(toolCalls?.items)).toEqual([
    ...['id', 'name', 'arguments', 'result', 'error', 'durationMs', 'attempt'],
  ]);
});

it('turn-event: its types, each with its fields, and what every event carries', () => {
  const stamp = ['turnId', 'sessionId', 'seq', 'at'];
  const bodies = schemaOf('turn-event').oneOf ?? [];
  for (const body of bodies) expect(fieldsOf(body)).toEqual(expect.arrayContaining(stamp));
  const types = bodies.map((body) => [
    body.properties?.['type']?.const,
    fieldsOf(body).filter((field) => field !== 'type' && !stamp.includes(field)),
  ]);
  expect(types).toEqual([
    ['turn.queued', ['position', 'delayMs?', 'joins?']],
    ['turn.started', ['workerId', 'attempt']],
    ['turn.parked', ['reason', 'afterMs']],
    ['turn.retrying', ['error', 'afterMs']],
    ['message.delta', ['messageId', 'text']],
    ['message.discarded', ['messageId']],
    ['message.joined', ['from', 'text']],
    ['message.completed', ['messageId', 'text', 'toolCallIds']],
    ['tool.started', ['callId', 'name', 'arguments', 'attempt']],
    ['tool.output', ['callId', 'stream', 'text']],
    ['tool.completed', ['callId', 'name', 'durationMs', 'exitCode', 'error']],
    ['skill.loaded', ['name', 'digest']],
    ['artifact.saved', ['artifact']],
    ['turn.completed', ['result']],
    ['turn.failed', ['result']],
    ['turn.cancelled', ['result']],
  ]);
});

it('artifact: its fields, and its reference', () => {
  expect(fieldsOf(schemaOf('artifact'))).toEqual([
    ...['name', 'version', 'mimeType', 'sizeBytes', 'sha256', 'ref'],
  ]);
  expect(formatArtifactRef('out/a b.txt', 3)).toBe('artifact://out/a b.txt@3');
});
