import { errorMessage } from '../errors/skillmill-error.js';
import { bullmq } from './bullmq.js';

const longestCron = 256;
/** What cron-parser spells out; it takes what else begins so for a field's alias. */
const named =
  /^@(yearly|annually|monthly|weekly|daily|hourly|minutely|secondly|weekdays|weekends)$/;

/** What is wrong with a cron pattern, by the very parser that BullMQ fires by; undefined when it fires one day. */
export function cronFault(cron: string): string | undefined {
  if (cron.length > longestCron) return `must be at most ${longestCron} characters`;
  if (!named.test(cron)) {
    // The parser would make up the fields that are missing.
    const fields = cron.trim() === '' ? 0 : cron.trim().split(/\s+/).length;
    if (fields !== 5 && fields !== 6) {
      return `has ${fields} fields; it must have five (minute, hour, day of month, month, day of week), or six with the second first`;
    }
    // Each worker would draw a number of its own, anew for each firing. The H of THU is none.
    if (cron.replace(/[a-z]{3}/gi, '').includes('H'))
      return 'must not use H, which stands for a random time';
  }
  try {
    const next = bullmq().defaultRepeatStrategy(Date.now(), { pattern: cron, tz: 'UTC' });
    return next === undefined ? 'never fires: there is no such date' : undefined;
  } catch (error) {
    return `is no cron pattern: ${errorMessage(error)}`;
  }
}

/** What is wrong with the name of a time zone. */
export function timeZoneFault(timeZone: string): string | undefined {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    // An offset is none of the zones that BullMQ's dates know.
    if (!/^[+-]/.test(timeZone)) return undefined;
  } catch {
    // Told below.
  }
  return 'is no time zone; use a name such as Europe/Berlin or UTC';
}
