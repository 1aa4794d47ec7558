import { small } from '../../support/hostile/hostile-case.js';
import { holdOff } from '../../support/hostile/hold-off.js';

// Full sizes: npm run test:hostile.
holdOff(small, (sentence) => sentence + ' [hostile-suite, no-sandbox-left]');
