import { it } from 'vitest';
import { z } from 'zod';
import { fullSize } from '../support/chaos/chaos-plan.js';
import { chaosSeed, runChaos } from '../support/chaos/chaos-suite.js';
import { engineAnswers } from '../support/docker.js';

/** Numbers that make a run smaller: CHAOS_SIZE='{"turns":12,"sessions":4,"workers":2,"kills":0}'. */
const smaller = z.strictObject({
  workers: z.int().min(1).default(fullSize.workers),
  concurrency: z.int().min(1).default(fullSize.concurrency),
  sessions: z.int().min(1).default(fullSize.sessions),
  turns: z.int().min(1).default(fullSize.turns),
  commands: z.number().min(0).max(1).default(fullSize.commands),
  kills: z.int().min(0).default(fullSize.kills),
  redisRestarts: z.int().min(0).default(fullSize.redisRestarts),
  cancelled: z.number().min(0).max(1).default(fullSize.cancelled),
});

it.skipIf(!(await engineAnswers()))(
  'keeps every promise while workers, containers and Redis die',
  async () => {
    const size = smaller.parse(JSON.parse(process.env['CHAOS_SIZE'] ?? '{}'));
    await runChaos({ ...fullSize, ...size }, chaosSeed());
  },
);
