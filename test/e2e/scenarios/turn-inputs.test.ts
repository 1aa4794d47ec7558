import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { turnResultSchema } from '../../../src/shared/contracts/index.js';
import { redirects, sends, startFileServer, type FileServer } from '../../support/file-server.js';
import { lastToolResult, openWorld, runs, type World } from '../../support/world.js';

const bytes = Buffer.from(Array.from({ length: 400_000 }, (_, at) => (at * 7) % 253));
const shaOf = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');

let world: World;
let files: FileServer;
/** The same server at an address that the operator does not name. */
let inner: FileServer;
let dir: string;
let log: () => string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'skillmill-test-'));
  inner = await startFileServer({ '/secret': sends('inner') }, { hostname: '127.0.0.2' });
  files = await startFileServer({
    '/data.bin': sends(bytes),
    '/moved': redirects('/data.bin'),
    '/inwards': redirects(`${inner.url}/secret`),
    '/large': sends(Buffer.alloc(1024 * 1024 + 1)),
  });
  world = await openWorld({
    SKILLMILL_EXECUTOR: 'local',
    SKILLMILL_DATA_DIR: join(dir, 'data'),
    SKILLMILL_INPUT_ALLOW_HOSTS: files.host,
    SKILLMILL_INPUT_MAX_MB: '1',
  });
  world.script('look', [
    runs(
      'cd "$WORK_DIR/inputs" && sha256sum $(find . -type f | sort); cat "$WORKSPACE_DIR/metadata.json"',
    ),
    { text: 'seen' },
  ]);
  world.script('write', [
    runs('printf "one\\0\\377" > "$OUTPUT_DIR/made.bin"'),
    { text: 'written' },
  ]);
  ({ log } = await world.worker());
});
afterAll(async () => {
  await world.close();
  await Promise.all([files.close(), inner.close()]);
  await rm(dir, { recursive: true, force: true });
});

async function turn(message: string, ...args: string[]) {
  const outcome = await world.run(['run', message, '--json', ...args]);
  return { ...outcome, result: turnResultSchema.parse(JSON.parse(outcome.stdout)) };
}
const specs = (...sources: string[]) => sources.flatMap((source) => ['--file', source]);
const lastOutput = () => {
  const { stdout } = lastToolResult(world.model.requests.at(-1) ?? { messages: [] });
  const [sums = '', metadata = ''] = String(stdout).split(/(?=^\{)/m);
  const lines = sums
    .trim()
    .split('\n')
    .map((line) => line.split(/ +\.\//).reverse());
  return { sums: Object.fromEntries(lines) as unknown, metadata: JSON.parse(metadata) as unknown };
};

describe('files of a turn', () => {
  it('come from this machine, from URLs and from artifacts of earlier turns [files-fetched, files-in]', async () => {
    const local = join(dir, 'local.txt');
    await writeFile(local, 'local');
    const made = await turn('write', '--session', 's');
    expect(made.result.artifacts.map(({ ref }) => ref)).toEqual(['artifact://out/made.bin@0']);
    const { code, result } = await turn(
      'look',
      ...['--session', 's', ...specs(local, `${files.url}/data.bin?sig=canary`)],
      ...specs(
        `${files.url}/moved:d/moved.bin`,
        'artifact://out/made.bin',
        'artifact://out/made.bin@0:v0',
      ),
    );
    expect({ code, error: result.error }).toEqual({ code: 0, error: null });
    const ofMade = shaOf(Buffer.from([0x6f, 0x6e, 0x65, 0, 0xff]));
    const { sums, metadata } = lastOutput();
    expect(sums).toEqual({
      'd/moved.bin': shaOf(bytes),
      'data.bin': shaOf(bytes),
      'local.txt': shaOf(Buffer.from('local')),
      'made.bin': ofMade,
      v0: ofMade,
    });
    const input = { path: 'work/inputs/data.bin', sha256: shaOf(bytes), size_bytes: bytes.length };
    expect(metadata).toMatchObject({
      inputs: [
        { path: 'work/inputs/local.txt' },
        { ...input, source: { url: `${files.url}/data.bin?…` } },
        { source: { url: `${files.url}/moved` } },
        { sha256: ofMade, source: { artifact: 'artifact://out/made.bin@0' } },
        { path: 'work/inputs/v0', size_bytes: 5 },
      ],
    });
    // What was fetched stands in the request's place: another attempt fetches nothing.
    const [key = ''] = await world.redis.keys(`*:turn:${result.turnId}`);
    const request = await world.redis.hget(key, 'request');
    expect(request).toContain(shaOf(bytes));
    expect(request).not.toContain('canary');
    const asked = world.model.requests.at(-1)?.messages.findLast(({ role }) => role === 'user');
    expect(asked?.content).toContain('- work/inputs/data.bin (400000 bytes)');
  });

  it('that cannot be had fail the turn before any model call, all of them named [files-fetched]', async () => {
    const before = world.model.requests.length;
    const wrong = await turn(
      'look',
      '--session',
      'without-artifacts',
      ...specs(`${files.url}/none.txt`, `${files.url}/large`, 'artifact://out/gone.txt'),
    );
    expect(wrong).toMatchObject({
      code: 1,
      result: { status: 'failed', usage: { modelCalls: 0 } },
    });
    expect(wrong.result.error).toMatchObject({ code: 'INPUT_INVALID', retryable: false });
    for (const part of ['none.txt was answered with status 404', 'larger than 1 MiB', 'has none']) {
      expect(wrong.result.error?.message).toContain(part);
    }
    const missing = await turn('look', ...specs(`${files.url}/none.txt`));
    expect(missing).toMatchObject({
      code: 1,
      result: { attempts: 1, error: { code: 'DOWNLOAD_FAILED', details: { reason: 'status' } } },
    });
    expect(world.model.requests).toHaveLength(before);
    const after = await world.run(['run', 'look', '--session', missing.result.sessionId]);
    expect(after).toMatchObject({ code: 0, stdout: 'seen\n' });
  });

  it('must have the SHA-256 that the request names [files-fetched]', async () => {
    const { createClient } = await import('../../../src/producer/index.js');
    await using client = createClient({ redisUrl: world.env['REDIS_URL'] ?? '' });
    const url = `${files.url}/data.bin`;
    const resultFor = async (sha256: string) => {
      const { turnId } = await client.enqueue({
        input: 'look',
        files: [{ path: 'a', url, sha256 }],
      });
      return client.result(turnId);
    };
    expect(await resultFor(shaOf(bytes))).toMatchObject({ status: 'completed' });
    expect(await resultFor('0'.repeat(64))).toMatchObject({
      error: { code: 'DOWNLOAD_FAILED', retryable: false, details: { reason: 'sha256' } },
    });
    const stored = await readFile(
      join(dir, 'data', 'blobs', shaOf(bytes).slice(0, 2), shaOf(bytes)),
    );
    expect(stored.equals(bytes)).toBe(true);
  });

  it('come from no host that is not public, unless the operator names it [files-private]', async () => {
    const port = String(inner.port);
    const inwards = [
      ...[`${inner.url}/secret`, `${files.url}/inwards`, `http://localhost:${port}/secret`],
      ...[
        `http://2130706434:${port}/a`,
        `http://[::ffff:7f00:2]:${port}/b`,
        'http://169.254.169.254/c',
      ],
    ];
    const { code, result } = await turn(
      'look',
      ...inwards.flatMap((url, n) => specs(`${url}:${n}`)),
    );
    expect({ code, error: result.error?.code }).toEqual({ code: 1, error: 'DOWNLOAD_FAILED' });
    expect(result.error?.message).toContain('SKILLMILL_INPUT_ALLOW_HOSTS');
    expect(result.error?.details?.['faults']).toMatchObject(
      inwards.map((_, n) => ({ path: String(n), reason: 'address_refused' })),
    );
    expect(inner.requests).toEqual([]);
  });

  it('show no password and no query of their URLs [files-private, secrets]', async () => {
    const refused = await world.run(['run', 'look', ...specs('http://me:canary@host/a')]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('must not hold a user name or password');
    const missing = await turn('look', ...specs(`${files.url}/none?key=canary`));
    expect(missing.result.error?.message).toContain('/none?… was answered');
    const shown = [refused, missing].map(({ stdout, stderr }) => stdout + stderr).join('');
    expect(shown + log() + JSON.stringify(world.model.requests)).not.toContain('canary');
  });
});
