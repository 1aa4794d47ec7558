import { stat } from 'node:fs/promises';
import Docker from 'dockerode';

/** The image that tests run in; scripts/services.sh makes it. */
export const testImage = 'skillmill/runner:0.1.0';

/** A client for looking at what the code under test did, on the usual socket or DOCKER_HOST. */
export const docker = new Docker();

/** Is there an engine? With CI=true its absence fails; elsewhere tests of Docker are skipped with a loud line. */
export async function engineAnswers(): Promise<boolean> {
  try {
    await docker.ping();
    return true;
  } catch (thrown) {
    if (process.env['CI'] === 'true') throw thrown;
    console.warn(
      '\n*** SKIPPED: no Docker engine answers, so nothing about containers was tested ***\n',
    );
    return false;
  }
}

/** Names of the containers that carry this deployment's label, running or not. */
export async function containersOf(deployment: string): Promise<string[]> {
  const filters = { label: [`skillmill.deployment=${deployment}`] };
  const found = await docker.listContainers({ all: true, filters });
  return found.map((container) => container.Names.join(',')).sort();
}

/** The group that may use the engine's socket; a worker in a container has to be in it. */
export async function socketGroup(): Promise<number> {
  return (await stat('/var/run/docker.sock')).gid;
}
