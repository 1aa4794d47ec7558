import { defineConfig } from 'vitest/config';

/** The attacks in full size, apart from `npm test`. */
export default defineConfig({
  test: {
    name: 'hostile',
    include: ['test/hostile/**/*.test.ts'],
    retry: 0,
    maxWorkers: 1,
    testTimeout: 1_200_000,
    hookTimeout: 120_000,
  },
});
