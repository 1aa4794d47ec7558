import { hostList, whole } from '../env-values.js';
import { variable } from './variable.js';

/** Files of a turn that a worker has to fetch. */
export const inputVariables = {
  SKILLMILL_INPUT_ALLOW_HOSTS: variable({
    schema: hostList,
    description:
      'Hosts that files of a turn may come from though their addresses are not public: host, host:port or *, comma-separated',
  }),
  SKILLMILL_INPUT_MAX_MB: variable({
    schema: whole(1, 10_240),
    default: '64',
    description: 'Size in MiB that a file of a turn may have which comes from a URL',
  }),
} as const;
