import { loadConfig } from '../shared/config/load-config.js';
import { SkillmillError } from '../shared/errors/skillmill-error.js';
import { startWorker } from './start-worker.js';

/** A turn is handed over this long after the grace time at the latest; then the process ends whatever hangs. */
const lastResortMs = 5000;

/** `skillmill worker`: runs until SIGTERM or SIGINT, then drains; a second signal hands running turns over at once. */
export async function runWorker(): Promise<number> {
  const config = loadConfig();
  const worker = await startWorker(config);
  if (config.executor.kind === 'local') {
    process.stderr.write(
      'skillmill: executor local: commands run on this machine without isolation\n',
    );
  }
  // One turn's fault must not take the others' worker away.
  process.on('unhandledRejection', (fault) => worker.report(fault));
  const stopped = new Promise<void>((resolve, reject) => {
    const drain = () => {
      setTimeout(() => {
        process.stderr.write('skillmill: the worker did not stop in time and is ended\n');
        process.exit(1);
      }, config.worker.graceMs + lastResortMs).unref();
      worker.drain().then(resolve, (error: unknown) => reject(SkillmillError.from(error)));
    };
    process.on('SIGTERM', drain);
    process.on('SIGINT', drain);
  });
  // Whoever reads this may send a signal at once.
  process.stderr.write(`skillmill: worker ${worker.workerId} is ready\n`);
  await stopped;
  return 0;
}
