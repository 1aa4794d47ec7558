import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { BlobStore } from '../../../src/shared/blobs/blob-store.js';
import { createFolderBlobStore } from '../../../src/shared/blobs/folder-blob-store.js';
import { SkillmillError } from '../../../src/shared/errors/skillmill-error.js';
import type { OpenSandbox } from '../../../src/worker/executor/executor.js';
import { createLocalExecutor } from '../../../src/worker/executor/local/local-executor.js';
import {
  collectOutputs,
  inlineLimitBytes,
} from '../../../src/worker/workspace/output-collector.js';
import { tempDir } from '../../support/temp-dir.js';

const never = new AbortController().signal;
let sandbox: OpenSandbox;
let blobs: BlobStore;
/** As the workspace remembers files from one command to the next. */
let known: Map<string, string>;

beforeEach(async () => {
  const executor = createLocalExecutor({
    ...{ owner: 'w', deployment: 'd', parentDir: await tempDir() },
    ...(process.env['PATH'] === undefined ? {} : { basePath: process.env['PATH'] }),
  });
  sandbox = await executor.open({ turnId: 't', sessionId: 's' }, never);
  onTestFinished(() => sandbox.close());
  blobs = createFolderBlobStore(await tempDir());
  known = new Map();
});

/** Runs shell text in the workspace's root. */
async function run(line: string): Promise<void> {
  const command = { line: `cd "$PWD/.." && ${line}`, cwd: 'out', env: {}, stdin: '' };
  const result = await sandbox.run(
    { ...command, timeoutMs: 20_000, outputLimitBytes: 10_000 },
    { signal: never, onOutput: () => undefined },
  );
  expect(result).toMatchObject({ exitCode: 0, stderr: { text: '' } });
}

const collect = (globs: readonly string[] = [], keep: (path: string) => boolean = () => true) =>
  collectOutputs(sandbox, blobs, {
    ...{ globs, keep, runDir: 'runs/run_0001', leftNothing: false },
    isChanged(path, fingerprint) {
      const changed = known.get(path) !== fingerprint;
      known.set(path, fingerprint);
      return changed;
    },
  });
const namesOf = async (globs: readonly string[] = []) =>
  (await collect(globs)).files.map((file) => file.name);

describe('without globs', () => {
  it('gives what the command changed in out/, and only that', async () => {
    await run('echo a > out/a; mkdir out/d; echo b > out/d/b; echo w > work/w');
    expect(await namesOf()).toEqual(['out/a', 'out/d/b']);
    expect(await namesOf()).toEqual([]);
    await run('echo more >> out/a; echo c > out/c; rm out/d/b');
    expect(await namesOf()).toEqual(['out/a', 'out/c']);
    await run('mv out/c out/c2');
    expect(await namesOf()).toEqual(['out/c2']);
  });

  it('sees a change of the same size', async () => {
    await run('echo aaa > out/a');
    await namesOf();
    await run('echo bbb > out/a');
    expect(await namesOf()).toEqual(['out/a']);
  });

  it('takes names of 16 KiB together and says how many files it left', async () => {
    const long = Array.from({ length: 12 }, () => 'x'.repeat(250)).join('/');
    await run(`mkdir -p out/${long}; for n in $(seq 10 17); do echo $n > out/${long}/$n; done`);
    await run('echo short > out/z');
    const { files, warnings, limitsHit } = await collect();
    expect(files.map(({ name }) => name.slice(-2))).toEqual(['10', '11', '12', '13', '14', '/z']);
    expect(warnings).toEqual([expect.stringMatching(/^3 more files .* 16384 bytes of names /)]);
    expect(limitsHit).toBe(true);
  });

  it('takes 20 files and says how many it left', async () => {
    await run('for n in $(seq 10 34); do echo $n > out/$n; done');
    const { files, warnings } = await collect();
    expect(files.map((file) => file.name)).toEqual(
      Array.from({ length: 20 }, (_, n) => `out/${n + 10}`),
    );
    expect(warnings).toEqual([expect.stringMatching(/^5 more files .* limit is 20 /)]);
  });
});

describe('with globs', () => {
  beforeEach(async () => {
    await run(
      'mkdir -p out/d work/e runs/run_0001 && cd out && echo 1 > a.csv && echo 2 > b.txt && echo 3 > .hidden && echo 4 > d/c.csv && echo 5 > "[x].csv" && echo 6 > ../work/e/w.csv && echo 7 > ../runs/run_0001/r.log',
    );
  });

  it.each([
    [['out/*.csv'], ['out/[x].csv', 'out/a.csv']],
    [['out/{a,b}.{csv,txt}'], ['out/a.csv', 'out/b.txt']],
    [['out/**/*.csv'], ['out/[x].csv', 'out/a.csv', 'out/d/c.csv']],
    [['out/**'], ['out/.hidden', 'out/[x].csv', 'out/a.csv', 'out/b.txt', 'out/d/c.csv']],
    [['$OUTPUT_DIR/*'], ['out/.hidden', 'out/[x].csv', 'out/a.csv', 'out/b.txt']],
    [['${OUTPUT_DIR}/d/*'], ['out/d/c.csv']],
    [['$RUN_DIR/*.log'], ['runs/run_0001/r.log']],
    [
      ['work/**/*.csv', 'out/a.csv'],
      ['out/a.csv', 'work/e/w.csv'],
    ],
    [['./out/./a.csv'], ['out/a.csv']],
    [
      ['out/a.csv', 'out/*.csv'],
      ['out/[x].csv', 'out/a.csv'],
    ],
    [['out/nothing*'], []],
  ])('%j gives %j, changed or not', async (globs, names) => {
    expect(await namesOf(globs)).toEqual(names);
    expect(await namesOf(globs)).toEqual(names);
  });

  it('gives an absolute path of the workspace too', async () => {
    expect(await namesOf([`${sandbox.workspaceDir}/out/a.csv`])).toEqual(['out/a.csv']);
  });

  it.each(['../**', '/etc/*', '/etc/passwd', 'out/../../**', '**', '$HOME/*'])(
    'warns of %s, which is outside, and gives the others',
    async (glob) => {
      const { files, warnings } = await collect([glob, 'out/a.csv']);
      expect(files.map((file) => file.name)).toEqual(['out/a.csv']);
      expect(warnings).toEqual([expect.stringContaining(JSON.stringify(glob))]);
    },
  );

  it.each(['out/', 'out'])('takes %s for no file', async (glob) => {
    expect(await namesOf([glob])).toEqual([]);
  });

  it('understands braces in the first part', async () => {
    expect(await namesOf(['{out,work/e}/*.csv'])).toEqual([
      'out/[x].csv',
      'out/a.csv',
      'work/e/w.csv',
    ]);
  });
});

describe('a file', () => {
  it('comes with its type, size, digest and bytes', async () => {
    await run("printf 'x,y\\n' > out/a.csv; head -c 100000 /dev/urandom > out/b.bin; : > out/c");
    const { files } = await collect();
    expect(
      files.map(({ name, mimeType, isText, sizeBytes }) => [name, mimeType, isText, sizeBytes]),
    ).toEqual([
      ['out/a.csv', 'text/csv', true, 4],
      ['out/b.bin', 'application/octet-stream', false, 100_000],
      ['out/c', 'text/plain', true, 0],
    ]);
    for (const { blob, head, sizeBytes } of files) {
      const bytes = await buffer(await blobs.open(blob?.sha256 ?? ''));
      expect(bytes.byteLength).toBe(sizeBytes);
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(blob?.sha256);
      expect(head.equals(bytes.subarray(0, inlineLimitBytes))).toBe(true);
    }
  });

  it('is kept only when it is asked for', async () => {
    await run('echo a > out/a; echo b > work/b');
    const { files } = await collect(['out/*', 'work/*'], (path) => path.startsWith('out/'));
    expect(files.map((file) => [file.name, file.blob === undefined])).toEqual([
      ['out/a', false],
      ['work/b', true],
    ]);
  });

  it('that is text is text also when its head ends within a character', async () => {
    await run(`printf x > out/a.txt; for n in $(seq 17000); do printf 'ü'; done >> out/a.txt`);
    expect((await collect()).files).toMatchObject([{ isText: true, sizeBytes: 34_001 }]);
  });

  it('over 64 MiB is left out with a warning, and takes no place', async () => {
    await run('truncate -s 67108865 out/big; truncate -s 5 out/small');
    const { files, warnings } = await collect();
    expect(files.map((file) => file.name)).toEqual(['out/small']);
    expect(warnings).toEqual([expect.stringContaining('"out/big"')]);
  });

  it('that is a link, a pipe or beyond a link is a warning', async () => {
    await run(
      'cd out && echo ok > real.txt && ln -s /etc/passwd leak && ln -s /etc hop && ln -s nowhere broken && mkfifo pipe',
    );
    const { files, warnings } = await collect(['out/**', 'out/hop/passwd']);
    expect(files.map((file) => file.name)).toEqual(['out/real.txt']);
    for (const name of ['leak', 'hop', 'broken', 'pipe']) {
      expect(warnings.filter((text) => text.includes(`"out/${name}"`))).toHaveLength(1);
    }
  });

  it('is found without globs when its name has a line break', async () => {
    await run('touch "out/$(printf "a\\nb")"');
    expect(await namesOf()).toEqual(['out/a\nb']);
  });

  it('is found by a glob when its name has a line break', async () => {
    await run('touch "out/$(printf "a\\nb")"');
    expect(await namesOf(['out/**'])).toEqual(['out/a\nb']);
  });

  it('is held up by no hostile glob', async () => {
    await run(`touch out/${'a'.repeat(100)}`);
    const { files, warnings } = await collect([
      `out/${'*a'.repeat(40)}b`,
      `out/${'{a,a}'.repeat(90)}`,
    ]);
    expect(files).toEqual([]);
    expect(warnings.length).toBeLessThanOrEqual(1);
  });

  it('that the store does not take costs the file, not the others', async () => {
    await run('head -c 300000 /dev/urandom > out/a; echo b > out/b');
    const refusing: BlobStore = {
      ...blobs,
      put: async (source) => {
        for await (const chunk of source) {
          if (chunk.byteLength > 2) throw new SkillmillError('BLOB_UNAVAILABLE', 'It is full.');
        }
        return { sha256: 'b'.repeat(64), sizeBytes: 2 };
      },
    };
    blobs = refusing;
    const { files, warnings } = await collect();
    expect(files.map((file) => [file.name, file.blob?.sizeBytes])).toEqual([
      ['out/a', undefined],
      ['out/b', 2],
    ]);
    expect(warnings).toEqual(['"out/a" was not kept: It is full.']);
  });
});
