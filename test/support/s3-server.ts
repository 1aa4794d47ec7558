import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import type { S3Config } from '../../src/shared/config/s3-config.js';
import { eventually } from './eventually.js';
import { accepts, freePort } from './redis-server.js';

export interface TestS3 {
  readonly config: S3Config;
  /** Files that hold the bytes of objects. */
  dataFiles(): Promise<string[]>;
  stop(): Promise<void>;
}

/** Is there a Swift to start? In CI there must be one. */
export async function hasS3Server(): Promise<boolean> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const tries = folders.map((folder) => access(join(folder, 'swift-proxy-server')));
  const there = await Promise.any(tries).then(
    () => true,
    () => false,
  );
  if (!there && process.env['CI'] === 'true') throw new Error('CI needs Swift');
  if (!there) console.warn('LEFT OUT: tests against S3, since Swift is not installed');
  return there;
}

/** An OpenStack Swift of its own with its S3 layer, and a bucket in it. It keeps objects as files, with their attributes. */
export async function startS3(): Promise<TestS3> {
  const dir = await mkdtemp(join(tmpdir(), 'skillmill-s3-'));
  const port = await freePort();
  const ports = {
    account: await freePort(),
    container: await freePort(),
    object: await freePort(),
  };
  await mkdir(join(dir, 'srv', 'd1'), { recursive: true });
  await makeRings(dir, ports);
  const servers: ChildProcess[] = [];
  const config = configFor(port);
  const stop = async () => {
    await Promise.all(servers.map(end));
    await rm(dir, { recursive: true, force: true });
  };
  try {
    for (const [kind, at] of Object.entries(ports)) {
      servers.push(await startServer(dir, kind, storageSettings(dir, kind, at)));
    }
    // First these: the proxy leaves a server that did not answer alone for a while.
    for (const at of Object.values(ports)) await eventually('a part of Swift', () => accepts(at));
    servers.push(await startServer(dir, 'proxy', proxySettings(dir, port)));
    await eventually('a private Swift', () => makeBucket(config));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    config,
    dataFiles: async () => {
      const all = await readdir(join(dir, 'srv'), { recursive: true });
      return all.filter((name) => name.endsWith('.data')).map((name) => join(dir, 'srv', name));
    },
    stop,
  };
}

function configFor(port: number): S3Config {
  return {
    bucket: 'blobs',
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    prefix: 'skillmill/',
    pathStyle: true,
    credentials: { accessKeyId: 'skillmill:test', secretAccessKey: 'skillmill-test-secret' },
  };
}

async function makeBucket({ endpoint = '', region, credentials, bucket }: S3Config): Promise<true> {
  if (credentials === undefined) throw new Error('no credentials');
  const client = new S3Client({
    ...{ endpoint, region, credentials, forcePathStyle: true, maxAttempts: 1 },
  });
  try {
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    return true;
  } finally {
    client.destroy();
  }
}

/** One replica on one device; one process, since each start of Swift's own tool takes most of a second. */
async function makeRings(dir: string, ports: Record<string, number>): Promise<void> {
  const program = `
import json, sys
from swift.common.ring import RingBuilder
dir, ports = sys.argv[1], json.loads(sys.argv[2])
for kind, port in ports.items():
    ring = RingBuilder(4, 1, 0)
    ring.add_dev(dict(id=0, region=1, zone=1, weight=1, ip='127.0.0.1', port=port, device='d1', meta='',
                      replication_ip='127.0.0.1', replication_port=port))
    ring.rebalance()
    ring.get_ring().save('%s/%s.ring.gz' % (dir, kind))
`;
  await promisify(execFile)('/usr/bin/python3', ['-c', program, dir, JSON.stringify(ports)]);
}

const common = (dir: string, port: number) => `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = ${userInfo().username}
swift_dir = ${dir}
devices = ${dir}/srv
mount_check = false
fallocate_reserve = 0
`;

const storageSettings = (dir: string, kind: string, port: number) => `${common(dir, port)}
[pipeline:main]
pipeline = ${kind}-server
[app:${kind}-server]
use = egg:swift#${kind}
`;

const filters = ['catch_errors', 'gatekeeper', 'cache', 's3api', 'tempauth', 'copy', 'slo'];

const filterSettings: Record<string, string> = {
  // Required, but nothing needs to answer there.
  cache: 'use = egg:swift#memcache\nmemcache_servers = 127.0.0.1:1',
  s3api: 'use = egg:swift#s3api\nlocation = us-east-1',
  tempauth: 'use = egg:swift#tempauth\nuser_skillmill_test = skillmill-test-secret .admin',
};

const proxySettings = (dir: string, port: number) => `${common(dir, port)}
[pipeline:main]
pipeline = ${filters.join(' ')} proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
error_suppression_limit = 1000000
${filters.map((name) => `[filter:${name}]\n${filterSettings[name] ?? `use = egg:swift#${name}`}`).join('\n')}
`;

async function startServer(dir: string, kind: string, settings: string): Promise<ChildProcess> {
  const path = join(dir, `${kind}.conf`);
  await writeFile(path, settings);
  return spawn(`swift-${kind}-server`, [path], { stdio: 'ignore' });
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exit = once(server, 'exit');
  server.kill('SIGKILL');
  await exit;
}
