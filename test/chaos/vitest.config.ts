import { defineConfig } from 'vitest/config';

/** Turns among dying workers, containers and Redis servers, in full size; apart from `npm test`. */
export default defineConfig({
  test: {
    name: 'chaos',
    include: ['test/chaos/**/*.test.ts'],
    retry: 0,
    maxWorkers: 1,
    testTimeout: 600_000,
    hookTimeout: 120_000,
  },
});
