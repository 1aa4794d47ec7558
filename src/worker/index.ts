/** The worker's public names, for embedding it in another process. */
export { startWorker, type RunningWorker, type WorkerGiven } from './start-worker.js';
export { loadConfig } from '../shared/config/load-config.js';
export type { Config } from '../shared/config/config.js';
