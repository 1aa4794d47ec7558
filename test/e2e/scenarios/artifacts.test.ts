import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, open, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { createClient, type Artifact } from '../../../src/producer/index.js';
import { openWorld, runs, type World } from '../../support/world.js';

let world: World;
let dir = '';
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'skillmill-test-'));
  world = await openWorld({ SKILLMILL_EXECUTOR: 'local', SKILLMILL_DATA_DIR: dir });
  const worker = await world.worker();
  const save = { output_files: ['out/*'], save_as_artifacts: true };
  // Bytes that are no UTF-8, and 300,000 of them for the store.
  world.script('make', [
    runs(
      `printf '\\000\\377\\200bin' > out/b.bin; head -c 300000 /dev/zero > out/big@2x.bin`,
      save,
    ),
    runs(`printf 'second\\033[31m' > out/b.bin`, save),
    runs(`printf 'words' > out/t.txt`, save),
    { text: 'made' },
  ]);
  const outcome = await world.run(['run', 'make', '--session', 'maker', '--json']);
  expect(outcome.code).toBe(0);
  // The same content once more is the same version.
  world.script('again', [runs(`printf 'words' > out/t.txt`, save), { text: 'made' }]);
  expect((await world.run(['run', 'again', '--session', 'maker'])).code).toBe(0);
  await worker.end();
});
afterAll(async () => {
  await world.close();
  await rm(dir, { recursive: true, force: true });
});

it('are listed, every version of them, and fetched byte for byte [artifacts-fetched]', async () => {
  const listed = await world.run(['artifacts', 'list', 'maker', '--json']);
  const all = JSON.parse(listed.stdout) as Artifact[];
  const refs = all.map(({ ref }) => ref);
  expect(refs).toEqual(
    expect.arrayContaining(['artifact://out/b.bin@0', 'artifact://out/b.bin@1']) as string[],
  );
  expect(new Set(refs).size).toBe(refs.length);
  const lines = await world.run(['artifacts', 'list', 'maker']);
  for (const ref of refs) expect(lines.stdout).toContain(ref);

  const file = join(dir, 'fetched');
  const get = (ref: string) =>
    world.run(['artifacts', 'get', ref, '--session', 'maker', '--out', file]);
  expect(await get('artifact://out/b.bin@0')).toMatchObject({ code: 0, stdout: '' });
  expect(await readFile(file)).toEqual(Buffer.from('\x00\xff\x80bin', 'latin1'));
  await get('out/b.bin');
  expect(await readFile(file, 'utf8')).toBe('second\u001b[31m');
  await get('out/big@2x.bin');
  expect((await readFile(file)).equals(Buffer.alloc(300_000))).toBe(true);
  const printed = await world.run(['artifacts', 'get', 'out/b.bin@1', '--session', 'maker']);
  expect(printed).toMatchObject({ code: 0, stdout: 'second\u001b[31m', stderr: '' });
});

it('are written into a pipe, which stays, and under the longest name there is [artifacts-fetched]', async () => {
  const pipe = join(dir, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const get = (out: string) =>
    world.run(['artifacts', 'get', 'out/b.bin@1', '--session', 'maker', '--out', out]);
  // Open for both, so that nobody waits for the other end.
  const reader = await open(pipe, 'r+');
  onTestFinished(() => reader.close());
  expect(await get(pipe)).toMatchObject({ code: 0 });
  expect((await stat(pipe)).isFIFO()).toBe(true);
  expect((await reader.read(Buffer.alloc(100))).bytesRead).toBe(11);
  const long = join(dir, 'x'.repeat(255));
  expect(await get(long)).toMatchObject({ code: 0 });
  expect(await readFile(long, 'utf8')).toBe('second\u001b[31m');
});

it('cannot be written where there is no folder, which is said [artifacts-fetched]', async () => {
  const args = ['artifacts', 'get', 'out/t.txt', '--session', 'maker', '--out', '/dev/null/x'];
  const { code, stderr } = await world.run(args);
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('--out /dev/null/x cannot be written'),
  ]);
  for (const [out, why] of [
    [dir, 'it is a folder; name a file in it'],
    ['', '--out is empty'],
  ] as const) {
    const refused = await world.run([
      'artifacts',
      'get',
      'out/t.txt',
      '--session',
      'maker',
      '--out',
      out,
    ]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(why) as string });
  }
});

it('is told as JSON when it is written to a file [artifacts-fetched]', async () => {
  const get = ['artifacts', 'get', 'out/t.txt@0', '--session', 'maker', '--json'];
  const path = join(dir, 'told.txt');
  const { code, stdout, stderr } = await world.run([...get, '--out', path]);
  expect([code, stderr]).toEqual([0, '']);
  const sha256 = createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
  expect(JSON.parse(stdout)).toMatchObject({ ref: 'artifact://out/t.txt@0', sha256 });
  expect(await world.run(get)).toMatchObject({ code: 2 });
});

it('are had by the SDK as well, and what is not there is said [artifacts-fetched]', async () => {
  const client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '', dataDir: dir });
  onTestFinished(() => client.close());
  const artifacts = client.artifacts('maker');
  const bytes = await buffer(await artifacts.open('out/b.bin@0'));
  expect(bytes).toEqual(Buffer.from('\x00\xff\x80bin', 'latin1'));
  await expect(artifacts.open('out/b.bin@7')).rejects.toMatchObject({
    code: 'ARTIFACT_NOT_FOUND',
    message: expect.stringMatching(/no version 7 of "out\/b.bin"; the last one is \d/) as string,
  });
  for (const [ref, why] of [
    ['out/none', 'It has out/'],
    ['artifact://', 'names no artifact'],
    ['@1', 'names no artifact'],
  ] as const) {
    await expect(artifacts.find(ref)).rejects.toMatchObject({
      code: 'ARTIFACT_NOT_FOUND',
      message: expect.stringContaining(why) as string,
    });
  }
  await expect(client.artifacts('nobody').list()).rejects.toMatchObject({
    code: 'SESSION_NOT_FOUND',
  });
  const url = await world.run(['artifacts', 'get', 'out/t.txt', '--session', 'maker', '--url']);
  expect(url).toMatchObject({ code: 2, stdout: '' });
  expect(url.stderr).toContain('SKILLMILL_S3_BUCKET');
});

it('a session is shown, and emptied once no turn of it is open [session-commands]', async () => {
  const shown = await world.run(['session', 'show', 'maker', '--json']);
  const view = JSON.parse(shown.stdout) as { messages: unknown[]; artifacts: unknown[] };
  expect(view.messages.length).toBeGreaterThan(4);
  expect(view.artifacts.length).toBeGreaterThan(3);
  const lines = await world.run(['session', 'show', 'maker']);
  expect(lines.stdout).toContain('artifact://out/b.bin@0');
  expect(lines.stdout).toContain('user: make');

  const { stdout } = await world.run(['enqueue', 'waits', '--session', 'maker']);
  const busy = await world.run(['session', 'reset', 'maker']);
  expect(busy).toMatchObject({ code: 1, stdout: '' });
  expect(busy.stderr).toContain('SESSION_BUSY');
  await world.run(['cancel', stdout.trim()]);
  expect((await world.run(['session', 'reset', 'maker'])).code).toBe(0);
  const empty = await world.run(['session', 'show', 'maker', '--json']);
  expect(JSON.parse(empty.stdout)).toEqual({
    ...{ sessionId: 'maker', messages: [], skills: [], artifacts: [], workspace: null },
  });
  const unknown = await world.run(['session', 'show', 'nobody', '--json']);
  expect(unknown.code).toBe(2);
  expect(JSON.parse(unknown.stdout)).toMatchObject({ error: { code: 'SESSION_NOT_FOUND' } });
});
