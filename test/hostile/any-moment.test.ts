import { randomUUID } from 'node:crypto';
import { anyMomentSuite } from '../conformance/executor-any-moment.js';
import { createDockerExecutor } from '../../src/worker/executor/docker/docker-executor.js';
import { containersOf, testImage } from '../support/docker.js';

const MIB = 1024 * 1024;
const deployment = `test-${randomUUID()}`;
const options = {
  image: testImage,
  limits: { memoryBytes: 256 * MIB, diskBytes: 128 * MIB, cpus: 1, processes: 256 },
  deployment,
};

anyMomentSuite(
  {
    makeExecutor: (owner = 'w-test') => createDockerExecutor({ ...options, owner }),
    leftovers: () => containersOf(deployment),
  },
  60,
);
