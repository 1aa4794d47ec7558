import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import Docker from 'dockerode';
import tar from 'tar-stream';

/** @typedef {import('./figures.js').Figures} Figures */

/** The obvious ways, with no part of ours: `docker run`, and the engine's calls one by one. */
export class Plain {
  #docker = new Docker();

  /** @param {string} image @param {string} label whose containers these are @param {Figures} figures */
  constructor(image, label, figures) {
    this.image = image;
    this.label = label;
    this.figures = figures;
  }

  async run() {
    const args = ['run', '--rm', '--network=none', '--entrypoint=bash', this.image];
    await this.figures.timed('docker run --rm', () =>
      promisify(execFile)('docker', [...args, '-c', 'echo hi']),
    );
  }

  /** Each step of a container's life; `archives` are put into it, `execs` commands run.
   *  @param {Map<string, Buffer>} archives @param {number} execs */
  async steps(archives, execs) {
    const { figures } = this;
    const container = await figures.timed('create', () => this.#create());
    try {
      await figures.timed('start', () => container.start());
      for (let run = 0; run < execs; run += 1) await figures.timed('exec', () => exec(container));
      for (const [name, archive] of archives) {
        await figures.timed(`putArchive, ${name}`, () =>
          container.putArchive(archive, { path: '/tmp' }),
        );
      }
      await exec(container, 'mkdir -p /tmp/o; for i in {1..10}; do echo $i > /tmp/o/$i; done');
      await figures.timed('getArchive, 10 files', async () => {
        const stream = await container.getArchive({ path: '/tmp/o' });
        stream.resume();
        await new Promise((resolve) => stream.once('end', resolve));
      });
    } finally {
      await figures.timed('remove', () => container.remove({ force: true, v: true }));
    }
  }

  /** A container that is made, started and removed: what no job can do without. */
  async life() {
    const container = await this.#create();
    try {
      await container.start();
    } finally {
      await container.remove({ force: true, v: true });
    }
  }

  /** How many of these containers are running. @param {string} deployment */
  async running(deployment) {
    const filters = { label: [`skillmill.deployment=${deployment}`], status: ['running'] };
    return (await this.#docker.listContainers({ filters })).length;
  }

  #create() {
    return this.#docker.createContainer({
      Image: this.image,
      Entrypoint: ['sleep', 'infinity'],
      Labels: { 'skillmill.bench': this.label },
      HostConfig: { NetworkMode: 'none', Init: true, LogConfig: { Type: 'none', Config: {} } },
    });
  }
}

/** @param {Docker.Container} container */
async function exec(container, line = 'echo hi') {
  const options = { Cmd: ['bash', '-c', line], AttachStdout: true, AttachStderr: true };
  const made = await container.exec(options);
  const stream = await made.start({ hijack: true, stdin: false });
  stream.resume();
  await new Promise((resolve) => stream.once('end', resolve));
  await made.inspect();
}

/** @param {ReadonlyMap<string, Buffer>} files */
export async function packed(files) {
  const pack = tar.pack();
  for (const [name, content] of files) pack.entry({ name }, content);
  pack.finalize();
  /** @type {Buffer[]} */
  const chunks = [];
  for await (const chunk of pack) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
