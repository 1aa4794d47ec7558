import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Loaded into a worker under test: on SIGUSR2 it frees what it no longer uses, so that its memory can be compared. */
setFlagsFromString('--expose-gc');
process.on('SIGUSR2', () => {
  runInNewContext('gc(); gc()');
});
