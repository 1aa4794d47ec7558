import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';
import { createDockerExecutor } from '../../src/worker/executor/docker/docker-executor.js';
import { createLocalExecutor } from '../../src/worker/executor/local/local-executor.js';
import { containersOf, engineAnswers, testImage } from '../support/docker.js';
import { anyMomentSuite } from './executor-any-moment.js';
import { dockerSuite } from './executor-docker.js';
import { engineSuite } from './executor-engine.js';
import { executorSuite } from './executor.js';

const MIB = 1024 * 1024;
const deployment = `test-${randomUUID()}`;

const parentDir = join(tmpdir(), deployment);
await mkdir(parentDir);
afterAll(() => rm(parentDir, { recursive: true, force: true }));

executorSuite('the local executor', {
  makeExecutor: (owner = 'w-test') => createLocalExecutor({ owner, deployment, parentDir }),
  leftovers: () => readdir(parentDir),
});

const options = {
  image: testImage,
  limits: { memoryBytes: 256 * MIB, diskBytes: 128 * MIB, cpus: 1, processes: 256 },
  deployment,
  owner: 'w-test',
};
const harness = {
  makeExecutor: (owner = 'w-test') => createDockerExecutor({ ...options, owner }),
  leftovers: () => containersOf(deployment),
};
describe.skipIf(!(await engineAnswers()))('with an engine', () => {
  executorSuite('the docker executor', harness);
  describe('the docker executor', () => {
    dockerSuite(harness, options);
    engineSuite(harness, options);
    anyMomentSuite(harness, 3);
  });
});
