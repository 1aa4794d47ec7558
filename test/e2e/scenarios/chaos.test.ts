import { it } from 'vitest';
import { smallSize } from '../../support/chaos/chaos-plan.js';
import { chaosSeed, runChaos } from '../../support/chaos/chaos-suite.js';
import { engineAnswers } from '../../support/docker.js';

// Full size: npm run test:chaos.
it.skipIf(!(await engineAnswers()))(
  'keeps every promise while workers, containers and Redis die [chaos, event-seq, session-order, keys-expire]',
  () => runChaos(smallSize, chaosSeed()),
);
