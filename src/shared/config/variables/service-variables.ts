import { z } from 'zod';
import { defaultTenant, tenantSchema } from '../../contracts/index.js';
import { onOff, redisUrls, seconds, whole } from '../env-values.js';
import { variable } from './variable.js';

/** Where the services are, and whose turns are theirs. */
export const serviceVariables = {
  REDIS_URL: variable({
    schema: redisUrls,
    default: 'redis://127.0.0.1:6379',
    description: 'Redis; several comma-separated URLs are the nodes of a Redis Cluster',
  }),
  SKILLMILL_WAIT_REPLICAS: variable({
    schema: whole(0, 100),
    default: '0',
    description:
      'Replicas of Redis that must have an accepted turn and a result before they are reported; 0 waits for none',
  }),
  SKILLMILL_ALLOW_EVICTION: variable({
    schema: onOff,
    default: '0',
    description: '1 starts workers on a Redis that may throw keys, and so turns, away',
  }),
  SKILLMILL_TENANT: variable({
    schema: tenantSchema,
    default: defaultTenant,
    description: 'Whose turns a client sees: the same session id under two tenants is two sessions',
  }),
  SKILLMILL_DATA_DIR: variable({
    schema: z.string().min(1, 'must not be empty'),
    description:
      'Folder for files over 256 KiB, shared by clients and workers (default: skillmill in XDG_DATA_HOME)',
  }),
  SKILLMILL_RESULT_TTL: variable({
    schema: seconds,
    default: '604800',
    description: 'Seconds that a result, its events and its small files are kept',
  }),
  SKILLMILL_SESSION_TTL: variable({
    schema: seconds,
    default: '2592000',
    description: 'Seconds that a session is kept after its last turn',
  }),
  SKILLMILL_GC_GRACE: variable({
    schema: seconds,
    default: '3600',
    description: 'Seconds that a file which nothing refers to is kept after it was last stored',
  }),
} as const;
