#!/usr/bin/env node
import { runCli } from './producer/cli/main.js';

// The binary stands above both sides and loads the worker only when asked for it; it holds no logic of its own.
const exitCode = await runCli(process.argv, [
  {
    name: 'worker',
    description: 'take turns from the queue and run them until SIGTERM or SIGINT',
    run: async () => (await import('./worker/main.js')).runWorker(),
  },
]);
// Connections to a service that does not answer would keep the process; what was printed is out before this.
process.stdout.write('', () => process.exit(exitCode));
