#!/usr/bin/env node
import { runCli } from './producer/cli/main.js';

// The binary stands above both sides and loads the worker only when asked for it; it holds no logic of its own.
process.exitCode = await runCli(process.argv, [
  {
    name: 'worker',
    description: 'take turns from the queue and run them until SIGTERM or SIGINT',
    run: async () => (await import('./worker/main.js')).runWorker(),
  },
]);
