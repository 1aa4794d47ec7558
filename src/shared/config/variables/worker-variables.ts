import { z } from 'zod';
import { onOff, timerSeconds, whole } from '../env-values.js';
import { variable } from './variable.js';

/** A worker, and what a turn may use up. */
export const workerVariables = {
  SKILLMILL_CONCURRENCY: variable({
    schema: whole(1, 1000),
    default: '4',
    description: 'Turns that one worker runs at a time',
  }),
  SKILLMILL_TURN_TIMEOUT: variable({
    schema: timerSeconds,
    default: '900',
    description: 'Seconds that a turn may take unless it sets its own limit',
  }),
  SKILLMILL_MAX_MODEL_CALLS: variable({
    schema: whole(1, 1000),
    default: '30',
    description: 'Model calls that a turn may make unless it sets its own limit',
  }),
  SKILLMILL_LAST_CHANCE: variable({
    schema: onOff,
    default: '1',
    description:
      '1 gives a model whose calls are used up one more, without tools, to answer with what there is',
  }),
  SKILLMILL_MAX_TOOL_CALLS: variable({
    schema: whole(0, 10_000),
    default: '100',
    description: 'Tool calls that a turn may make unless it sets its own limit',
  }),
  SKILLMILL_MAX_ATTEMPTS: variable({
    schema: whole(1, 1000),
    default: '3',
    description:
      'How often in a row a turn may be begun without getting a step further (a lost worker, Redis or Docker away) before it fails',
  }),
  SKILLMILL_MAX_WAITS: variable({
    schema: whole(0, 1000),
    default: '10',
    description:
      'How often in a row a turn waits for an endpoint that asks for a pause (429) before it fails',
  }),
  SKILLMILL_SHUTDOWN_GRACE: variable({
    schema: whole(0, 86_400),
    default: '60',
    description: 'Seconds that running turns get to finish after SIGTERM',
  }),
  SKILLMILL_LOG_LEVEL: variable({
    schema: z.enum(
      ['debug', 'info', 'warn', 'error', 'silent'],
      'must be debug, info, warn, error or silent',
    ),
    default: 'info',
    description: 'What a worker logs, as JSON lines on stderr',
  }),
} as const;
