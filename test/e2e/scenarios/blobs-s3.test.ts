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
});
