import { errorMessage } from '../errors/skillmill-error.js';

/** Why Redis may refuse a command for now: what to do, and whether it passes by itself within seconds (a fail-over, a start). */
const refusals = [
  {
    pattern: /(^|-)READONLY /,
    isBrief: true,
    advice: 'It is a read-only replica: wait for the fail-over, or let REDIS_URL name the primary.',
  },
  { pattern: /(^|-)LOADING /, isBrief: true, advice: 'It has just been started: try again.' },
  {
    pattern: /(^|-)MASTERDOWN /,
    isBrief: true,
    advice: 'It is a replica without its primary: wait for the fail-over, or start the primary.',
  },
  {
    pattern: /(^|-)OOM /,
    isBrief: false,
    advice: 'It is full: give it more memory (maxmemory), or remove what nobody needs.',
  },
  {
    pattern: /(^|-)BUSY Redis/,
    isBrief: false,
    advice: 'Somebody’s script holds it up: wait, or end that with `redis-cli SCRIPT KILL`.',
  },
  {
    pattern: /(^|-)MISCONF /,
    isBrief: false,
    advice: 'It cannot save its data: look at its log and its disk.',
  },
  {
    pattern: /(^|-)NOREPLICAS /,
    isBrief: false,
    advice: 'It misses replicas (min-replicas-to-write): start them.',
  },
  {
    pattern: /max number of clients reached/,
    isBrief: false,
    advice: 'It has too many connections: raise maxclients, or stop some of its clients.',
  },
] as const;

const knownIn = (error: unknown) =>
  refusals.find(({ pattern }) => pattern.test(errorMessage(error)));

/** Would the same command be taken later? Nothing of it was done. */
export function isRefusal(error: unknown): boolean {
  return knownIn(error) !== undefined;
}

/** A refusal that passes by itself within seconds. */
export function isBriefRefusal(error: unknown): boolean {
  return knownIn(error)?.isBrief === true;
}

/** What to do about a refusal; undefined for anything else. */
export function adviceOn(error: unknown): string | undefined {
  return knownIn(error)?.advice;
}

/** The message in one line, without the place in a script that Redis adds. */
export function shortReason(error: unknown): string {
  return errorMessage(error)
    .replace(/ script: [0-9a-f]{40}.*$/s, '')
    .replace(/\s+/g, ' ');
}
