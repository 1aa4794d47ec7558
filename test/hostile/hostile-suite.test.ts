import { full } from '../support/hostile/hostile-case.js';
import { holdOff } from '../support/hostile/hold-off.js';

holdOff(full, (sentence) => sentence);
