import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const project = join(import.meta.dirname, '..', '..');

/** `skillmill worker` in a process of its own, with the skills of examples/. */
export class WorkerProcess {
  /** @param {import('node:child_process').ChildProcess} child */
  constructor(child) {
    this.child = child;
  }

  /** Starts one and waits until it is ready. @param {string} folder for its data @param {Record<string, string>} settings */
  static async start(folder, settings) {
    const child = spawn(process.execPath, [join(project, 'dist', 'skillmill.js'), 'worker'], {
      cwd: folder,
      env: {
        PATH: process.env['PATH'],
        SKILLS_ROOT: join(project, 'examples', 'skills'),
        SKILLMILL_DATA_DIR: folder,
        ...settings,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    await new Promise((resolve, reject) => {
      child.stderr.on('data', (/** @type {Buffer} */ chunk) => {
        said += chunk.toString('utf8');
        if (said.includes('is ready')) resolve(undefined);
      });
      child.once('exit', () => reject(new Error(`a worker ended: ${said}`)));
    });
    return new WorkerProcess(child);
  }

  get isAlive() {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Ends it with a signal and waits for that. @param {NodeJS.Signals} signal */
  async end(signal) {
    if (!this.isAlive) return;
    const exit = once(this.child, 'exit');
    this.child.kill(signal);
    await exit;
  }
}
