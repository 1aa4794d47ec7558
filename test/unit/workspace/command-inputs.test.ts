import { Readable } from 'node:stream';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import type { OpenSandbox } from '../../../src/worker/executor/executor.js';
import { createLocalExecutor } from '../../../src/worker/executor/local/local-executor.js';
import { stageInputs } from '../../../src/worker/workspace/command-inputs.js';
import type { InputSpec } from '../../../src/worker/workspace/input-source.js';
import { tempDir } from '../../support/temp-dir.js';

const never = new AbortController().signal;
let sandbox: OpenSandbox;

beforeEach(async () => {
  const parentDir = await tempDir();
  const executor = createLocalExecutor({ owner: 'w', deployment: 'd', parentDir });
  sandbox = await executor.open({ turnId: 't', sessionId: 's' }, never);
  onTestFinished(() => sandbox.close());
  const content = Buffer.from('here');
  await sandbox.put([{ path: 'out/d/x', kind: 'file', mode: 0o644, content }], 'command');
});

const stage = (specs: readonly Partial<InputSpec>[]) =>
  stageInputs(
    sandbox,
    specs.map((spec) => ({ src: '', dst: '', mode: 'copy', pin: false, ...spec })),
    'runs/r',
    {
      blobs: { open: () => Promise.resolve(Readable.from([])) },
      artifacts: { find: () => undefined, names: () => [] },
      pins: { get: () => undefined, set: () => undefined },
      skillFiles: () => Promise.resolve([]),
      stagedSkill: 's',
      hostFolders: [],
    },
  );
const there = async () =>
  (await sandbox.list(['work', 'out'], 100)).files.map(({ path, sizeBytes }) => [path, sizeBytes]);

it.each(['out/d/x', 'out/d', 'out/d/x/y'])('are no links to themselves: %s', async (dst) => {
  const link = { src: 'workspace://out/d/x', dst, mode: 'link' as const };
  await expect(stage([link])).rejects.toMatchObject({ code: 'TOOL_INPUT_INVALID' });
  expect(await there()).toEqual([['out/d/x', 4]]);
});

it('are put there all or not at all: none below one that is a file', async () => {
  const src = 'workspace://out/d/x';
  const both = stage([
    { src, dst: 'work/a/f' },
    { src, dst: 'work/a/f/g' },
  ]);
  await expect(both).rejects.toMatchObject({ code: 'TOOL_INPUT_INVALID' });
  expect(await there()).toEqual([['out/d/x', 4]]);
  await stage([
    { src: 'workspace://out/d', dst: 'work/a' },
    { src, dst: 'work/a/y' },
  ]);
  expect(await there()).toEqual([
    ['out/d/x', 4],
    ['work/a/x', 4],
    ['work/a/y', 4],
  ]);
});
