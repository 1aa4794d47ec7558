import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasS3Server, startS3, type TestS3 } from '../../support/s3-server.js';
import { tempDir } from '../../support/temp-dir.js';
import { lastToolResult, openWorld, runs, type World } from '../../support/world.js';

const secret = 'skillmill-test-secret';

describe.runIf(await hasS3Server())('client and worker that share a bucket, and no folder', () => {
  let s3: TestS3 | undefined;
  let world: World | undefined;
  beforeAll(async () => {
    s3 = await startS3();
    world = await openWorld({
      SKILLMILL_S3_BUCKET: s3.config.bucket,
      SKILLMILL_S3_ENDPOINT: s3.config.endpoint ?? '',
      AWS_ACCESS_KEY_ID: 'skillmill:test',
      AWS_SECRET_ACCESS_KEY: secret,
    });
  }, 120_000);
  afterAll(async () => {
    await world?.close();
    await s3?.stop();
  });

  it('take large files there, and bring large results back [blobs-in-bucket, secrets]', async () => {
    if (world === undefined) throw new Error('no world');
    const [dir, ofClient, ofWorker] = [await tempDir(), await tempDir(), await tempDir()];
    const large = randomBytes(700_000);
    await writeFile(join(dir, 'large.bin'), large);
    world.script('copy the file', [
      runs('sha256sum "$WORK_DIR"/inputs/*; cp "$WORK_DIR"/inputs/* "$OUTPUT_DIR"'),
      (request) => ({ text: String(lastToolResult(request)['stdout']) }),
    ]);
    await world.worker({ SKILLMILL_DATA_DIR: ofWorker });
    const outcome = await world.run(
      [
        ...['run', 'copy the file', '--file', `${join(dir, 'large.bin')}:large.bin`],
        ...['--out', join(dir, 'got')],
      ],
      { SKILLMILL_DATA_DIR: ofClient },
    );
    expect(outcome.code, outcome.stderr).toBe(0);
    expect(outcome.stdout).toContain(createHash('sha256').update(large).digest('hex'));
    expect((await readFile(join(dir, 'got', 'out', 'large.bin'))).equals(large)).toBe(true);
    expect([await readdir(ofClient), await readdir(ofWorker)]).toEqual([[], []]);
    expect(outcome.stdout + outcome.stderr).not.toContain(secret);
  });

  it('are where a session’s files lie for the next worker, whose folder is another one [workspace-follows, blobs-in-bucket]', async () => {
    if (world === undefined) throw new Error('no world');
    const list =
      'cd "$WORKSPACE_DIR"; find work .venv -type f -print0 2>/dev/null | sort -z | xargs -0 sha256sum';
    const make =
      'head -c 1500000 /dev/urandom > "$WORK_DIR/large"; head -c 300000 /dev/urandom > "$WORK_DIR/middle"; echo s > "$WORK_DIR/small"';
    world.script('make', [
      runs(make),
      runs(list),
      (request) => ({ text: String(lastToolResult(request)['stdout']) }),
    ]);
    world.script('look', [
      runs(list),
      (request) => ({ text: String(lastToolResult(request)['stdout']) }),
    ]);
    const [first, second] = [await tempDir(), await tempDir()];
    const ask = (text: string) => world?.run(['run', text, '--session', 'in-bucket']);
    const maker = await world.worker({ SKILLMILL_DATA_DIR: first });
    const made = await ask('make');
    expect(made).toMatchObject({ code: 0 });
    await maker.end('SIGKILL');
    const looker = await world.worker({ SKILLMILL_DATA_DIR: second });
    expect((await ask('look'))?.stdout).toBe(made?.stdout);
    expect(made?.stdout.split('\n')).toHaveLength(4);
    expect([await readdir(first), await readdir(second)]).toEqual([[], []]);
    await looker.end();
  });

  it('give out URLs that read an artifact without credentials, be it large or small [artifacts-fetched]', async () => {
    if (world === undefined) throw new Error('no world');
    const make =
      'head -c 400000 /dev/zero > "$OUTPUT_DIR/large"; printf "\\377\\000" > "$OUTPUT_DIR/small"';
    world.script('keep', [runs(make), { text: 'kept' }]);
    const worker = await world.worker();
    await world.run(['run', 'keep', '--session', 'urls']);
    await worker.end();
    const read = async (ref: string) => {
      const args = ['artifacts', 'get', ref, '--session', 'urls', '--url', '60'];
      const { stdout, stderr } = (await world?.run(args)) ?? { stdout: '', stderr: '' };
      expect(stdout, stderr).toMatch(/^http/);
      return Buffer.from(await (await fetch(stdout.trim())).arrayBuffer());
    };
    expect((await read('out/large')).equals(Buffer.alloc(400_000))).toBe(true);
    expect([...(await read('artifact://out/small@0'))]).toEqual([255, 0]);
  });
});
