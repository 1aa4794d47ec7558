import { describe, expect, it } from 'vitest';
import { reachable, sourceFiles, target, type SourceFile } from './source-tree.js';

const files = sourceFiles('src');
const below = (folder: string) => files.filter((file) => file.path.startsWith(folder));

it('finds the sources and their imports', () => {
  expect(files.length).toBeGreaterThan(100);
  const [binary] = files.filter((file) => file.path === 'src/skillmill.ts');
  expect(binary?.imports).toEqual(['./producer/cli/main.js', './worker/main.js']);
});

it('no file is longer than 250 lines', () => {
  expect(files.filter((file) => file.lines > 250).map((file) => file.path)).toEqual([]);
});

/** What one side alone uses and yet lies in src/shared, each with its reason. */
const oneSided: Record<string, string> = {
  'src/shared/config/': 'all settings are checked in one place, whoever reads them',
  'src/shared/download/': 'skill roots come from URLs too, on both sides',
  'src/shared/events/turn-event-log.ts': 'the reading half of what the scripts write',
  'src/shared/logging/': 'the fence of pino; shared/queue takes a logger',
  'src/shared/queue/': 'the fence of bullmq holds both halves of each queue',
  'src/shared/redis/scripts/':
    'all state changes lie together, so that they can be read as one protocol',
  'src/shared/usage/': 'what is counted and how it is read is one ledger',
  'src/shared/skills/':
    'the skill reader knows no worker; checks at the producer’s side are to use it',
};
const reasonFor = (path: string) => Object.keys(oneSided).find((start) => path.startsWith(start));

describe('src/shared', () => {
  const producer = reachable(files, below('src/producer/'));
  const worker = reachable(files, below('src/worker/'));
  const lonely = below('src/shared/')
    .map((file) => file.path)
    .filter((path) => !producer.has(path) || !worker.has(path));

  it('holds what both sides use, but for a few files with a reason', () => {
    expect(lonely.filter((path) => reasonFor(path) === undefined)).toEqual([]);
  });

  it('has no reason left over in the list', () => {
    const used = new Set(lonely.map(reasonFor));
    expect(Object.keys(oneSided).filter((start) => !used.has(start))).toEqual([]);
  });

  it('has no drawer for odds and ends', () => {
    const names = /\/(utils?|helpers?|common|lib|misc|types|constants)(\.ts|\/)/;
    expect(files.map((file) => file.path).filter((path) => names.test(path))).toEqual([]);
  });
});

/** Where each package may be imported. One that is not listed may be imported nowhere. */
const fences: Record<string, readonly string[]> = {
  '@aws-sdk': ['src/shared/blobs/s3-bucket.ts'],
  '@modelcontextprotocol': ['src/worker/toolbox/mcp-client.ts'],
  ajv: ['src/worker/agent/output-check.ts'],
  bullmq: ['src/shared/queue/'],
  commander: ['src/producer/cli/'],
  dockerode: ['src/worker/executor/docker/docker-engine.ts'],
  'eventsource-parser': ['src/worker/model/read-stream.ts'],
  'gpt-tokenizer': ['src/worker/prompt/token-budget.ts'],
  'gray-matter': ['src/shared/skills/front-matter.ts'],
  'ipaddr.js': ['src/shared/download/public-address.ts'],
  ioredis: ['src/shared/redis/'],
  'lru-cache': ['src/worker/skills/skill-archive.ts', 'src/worker/workspace/skill-packs.ts'],
  mime: ['src/worker/workspace/media-type.ts'],
  nanoid: ['src/shared/contracts/ids.ts'],
  openai: ['src/worker/model/openai-model.ts'],
  'p-retry': [
    'src/shared/download/download.ts',
    'src/worker/model/model-retry.ts',
    'src/worker/publish/turn-writer.ts',
    'src/worker/turn/settle-turn.ts',
  ],
  picomatch: ['src/worker/workspace/match-globs.ts'],
  pino: ['src/shared/logging/'],
  'tar-stream': ['src/shared/archive/', 'src/worker/executor/docker/tar-transfer.ts'],
  yaml: ['src/shared/skills/'],
  yauzl: ['src/shared/archive/'],
  zod: ['src/'],
};

describe('imports', () => {
  it('of a package stand only behind its fence', () => {
    const strays = files.flatMap((file) =>
      file.imports
        .filter((name) => !name.startsWith('.') && !name.startsWith('node:'))
        .filter((name) => !isFenced(name, file.path))
        .map((name) => `${file.path} imports ${name}`),
    );
    expect(strays).toEqual([]);
  });

  it('go to files that exist, and from shared to neither side', () => {
    const paths = new Set(files.map((file) => file.path));
    const wrong = files.flatMap((file) =>
      file.imports
        .filter((name) => name.startsWith('.'))
        .map((name) => target(file, name))
        .filter((path) => !paths.has(path) || crosses(file, path))
        .map((path) => `${file.path} imports ${path}`),
    );
    expect(wrong).toEqual([]);
  });

  it('in contracts are only of zod, nanoid, the errors and each other', () => {
    const outside = below('src/shared/contracts/').flatMap((file) =>
      file.imports.filter(
        (name) => !/^(zod|nanoid|node:crypto|\.\/.*|\.\.\/errors\/.*)$/.test(name),
      ),
    );
    expect(outside).toEqual([]);
  });
});

function isFenced(name: string, path: string): boolean {
  const vendor = name.split('/')[0] ?? name;
  return (fences[vendor] ?? []).some((home) => path.startsWith(home));
}

const sideOf = (path: string) => path.split('/')[1] ?? '';
function crosses(from: SourceFile, path: string): boolean {
  const [here, there] = [sideOf(from.path), sideOf(path)];
  const isBinary = here.endsWith('.ts');
  return !isBinary && here !== there && there !== 'shared';
}
