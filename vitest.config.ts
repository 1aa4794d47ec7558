import { defineConfig } from 'vitest/config';

/** A project whose files share their imports takes a third less: they change nothing that another sees. */
const project = (name: string, timeoutMs: number) => ({
  extends: true as const,
  test: {
    name,
    isolate: false,
    include: [`test/${name}/**/*.test.ts`],
    testTimeout: timeoutMs,
    hookTimeout: Math.max(timeoutMs, 60_000),
  },
});

export default defineConfig({
  test: {
    retry: 0,
    // Two cores: more workers only make each other's deadlines fail.
    maxWorkers: 2,
    projects: [
      project('unit', 10_000),
      project('arch', 60_000),
      project('pins', 10_000),
      project('redis', 30_000),
      project('conformance', 120_000),
      project('e2e', 180_000),
    ],
  },
});
