import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as producer from '../../src/producer/index.js';
import * as contracts from '../../src/shared/contracts/index.js';
import * as worker from '../../src/worker/index.js';
import * as toolbox from '../../src/worker/toolbox/index.js';

const source = join(import.meta.dirname, '..', '..', 'src');

/** Every name in the file's export clauses, types too, as its users see it. */
async function exportedNames(path: string): Promise<string[]> {
  const text = await readFile(join(source, path), 'utf8');
  const clauses = [...text.matchAll(/export (?:type )?\{([^}]*)\}/g)];
  const names = clauses.flatMap((clause) => (clause[1] ?? '').split(','));
  return names
    .map((name) => name.trim().replace(/^type /, ''))
    .map((name) => name.split(' as ').at(-1) ?? name)
    .filter((name) => name !== '')
    .sort();
}

describe('public names of', () => {
  it('the SDK', async () => {
    expect(Object.keys(producer).sort()).toEqual(['SkillmillError', 'createClient']);
    expect(await exportedNames('producer/index.ts')).toEqual([
      ...[
        'AddedSchedule',
        'Artifact',
        'CancelOutcome',
        'Client',
        'ClientOptions',
        'CollectChoice',
        'ContentPart',
      ],
      ...['EnqueuedTurn', 'ErrorCode', 'FileInput', 'FollowOptions', 'GarbageReport'],
      ...[
        'PublicError',
        'ScheduleInput',
        'ScheduleView',
        'Schedules',
        'SessionArtifacts',
        'SessionHandle',
        'SessionView',
        'SkillmillError',
      ],
      ...['TurnEvent', 'TurnRequest', 'TurnResult', 'UsageQuery', 'UsageReport', 'WorkspaceFile'],
      'createClient',
    ]);
  });

  it('the worker', async () => {
    expect(Object.keys(worker).sort()).toEqual(['loadConfig', 'startWorker']);
    expect(await exportedNames('worker/index.ts')).toEqual([
      ...['Config', 'RunningWorker', 'WorkerGiven', 'loadConfig', 'startWorker'],
    ]);
  });

  it('the toolbox', async () => {
    expect(Object.keys(toolbox).sort()).toEqual(['defineMcpServer', 'defineTool']);
    expect(await exportedNames('worker/toolbox/index.ts')).toEqual([
      ...['HttpMcpServer', 'McpServer', 'McpServerDefinition', 'McpServerOptions'],
      ...['StdioMcpServer', 'ToolCallInfo', 'ToolboxTool', 'ToolboxToolDefinition'],
      ...['defineMcpServer', 'defineTool'],
    ]);
  });

  it('the contracts', async () => {
    expect(Object.keys(contracts).sort()).toEqual([
      ...['artifactSchema', 'contentPartSchema', 'contractJsonSchema', 'contractNames'],
      ...['defaultTenant', 'fileInputSchema', 'formatArtifactRef', 'isContractName'],
      ...['isFinalEvent', 'isPlainRelativePath', 'makeSessionId', 'makeTurnId', 'messageSchema'],
      'parseArtifactRef',
      ...[
        'priorities',
        'publicErrorSchema',
        'responseFormatSchema',
        'sessionIdOfKey',
        'sessionIdSchema',
        'sessionTag',
        'sha256Schema',
        'tagOfTurn',
        'tenantSchema',
      ],
      ...['turnEventBodySchema', 'turnEventSchema', 'turnIdSchema', 'turnLimitsSchema'],
      ...['turnRequestSchema', 'turnResultSchema', 'turnStatusSchema', 'workspaceVersionSchema'],
    ]);
    expect(await exportedNames('shared/contracts/index.ts')).toEqual([
      ...['Artifact', 'AssistantMessage', 'ContentPart', 'ContractName', 'FileInput', 'FinalEvent'],
      ...[
        'Message',
        'ResponseFormat',
        'Session',
        'SessionId',
        'ShownSkill',
        'SkillLoad',
        'Tenant',
        'Timings',
      ],
      ...['ToolCall', 'ToolCallRecord', 'ToolMessage', 'TurnEvent', 'TurnEventBody', 'TurnId'],
      ...['TurnLimits', 'TurnRequest', 'TurnRequestInput', 'TurnResult', 'TurnStatus', 'Usage'],
      'WorkspaceVersion',
      ...['artifactSchema', 'contentPartSchema', 'contractJsonSchema', 'contractNames'],
      ...['defaultTenant', 'fileInputSchema', 'formatArtifactRef', 'isContractName'],
      ...['isFinalEvent', 'isPlainRelativePath', 'makeSessionId', 'makeTurnId', 'messageSchema'],
      'parseArtifactRef',
      ...[
        'priorities',
        'publicErrorSchema',
        'responseFormatSchema',
        'sessionIdOfKey',
        'sessionIdSchema',
        'sessionTag',
        'sha256Schema',
        'tagOfTurn',
        'tenantSchema',
      ],
      ...['turnEventBodySchema', 'turnEventSchema', 'turnIdSchema', 'turnLimitsSchema'],
      ...['turnRequestSchema', 'turnResultSchema', 'turnStatusSchema', 'workspaceVersionSchema'],
    ]);
  });

  it('the package', async () => {
    const text = await readFile(join(source, '..', 'package.json'), 'utf8');
    const { exports, bin } = JSON.parse(text) as { exports: object; bin: unknown };
    expect(Object.keys(exports)).toEqual([
      ...['.', './worker', './toolbox', './contracts', './package.json'],
    ]);
    expect(bin).toEqual({ skillmill: 'dist/skillmill.js' });
  });
});
