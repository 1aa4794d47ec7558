import { z } from 'zod';
import type { TurnRequest, TurnRequestInput } from '../shared/contracts/index.js';
import { checkTurnRequest } from '../shared/contracts/parse-turn-request.js';
import { describeFaults, inputFaults, type InputFault } from '../shared/errors/describe-issues.js';
import { SkillmillError } from '../shared/errors/skillmill-error.js';
import { cronFault, timeZoneFault } from '../shared/queue/cron.js';
import type { Schedule } from '../shared/queue/schedule-queue.js';

/** What a caller writes to have a turn repeated. */
export interface ScheduleInput {
  /** 1 to 128 of `A-Za-z0-9._-`; a schedule that is added again replaces the one of its name. */
  readonly name: string;
  /** Five fields as in crontab(5), six with the second first, or `@daily` and its like. */
  readonly cron: string;
  /** Where the cron's hours are told; UTC unless given. */
  readonly timeZone?: string;
  /** The turn of each firing; without a session each gets a new one. */
  readonly turn: TurnRequestInput;
}

/** A schedule's files are kept in Redis for as long as it is. */
export const scheduledFilesLimitBytes = 256 * 1024;

/** The same for every worker, wherever it runs. */
const defaultTimeZone = 'UTC';

const nameSchema = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,128}$/, 'must be 1 to 128 characters of A-Z a-z 0-9 . _ -');

const scheduleSchema = z.strictObject({
  name: nameSchema,
  cron: z.string().superRefine((cron, context) => tell(cronFault(cron), context)),
  timeZone: z
    .string()
    .superRefine((zone, context) => tell(timeZoneFault(zone), context))
    .default(defaultTimeZone),
  turn: z.unknown(),
});

/** Checks a schedule. @throws SkillmillError INPUT_INVALID that names every fault at once */
export function parseSchedule(input: unknown): Schedule {
  const parsed = scheduleSchema.safeParse(input);
  const own = parsed.success ? [] : inputFaults(parsed.error);
  const given = z.looseObject({ turn: z.unknown() }).safeParse(input).data?.turn;
  const { turn, faults: ofTurn } = checkTurnRequest(given);
  const faults = [...own, ...[...ofTurn, ...faultsOfRepeating(given, turn)].map(inTurn)];
  if (parsed.success && turn !== undefined && faults.length === 0) return { ...parsed.data, turn };
  throw new SkillmillError(
    'INPUT_INVALID',
    `The schedule is not valid: ${describeFaults(faults)}.`,
    { details: { faults } },
  );
}

/** @throws SkillmillError INPUT_INVALID */
export function parseScheduleName(name: string): string {
  if (nameSchema.safeParse(name).success) return name;
  const shown = JSON.stringify(name.slice(0, 100));
  const sentence = `${shown} is no name of a schedule, which is 1 to 128 characters of A-Z a-z 0-9 . _ -`;
  throw new SkillmillError('INPUT_INVALID', sentence);
}

function tell(fault: string | undefined, context: z.core.$RefinementCtx): void {
  if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
}

function inTurn({ path, message }: InputFault): InputFault {
  return { path: path === '' ? 'turn' : `turn.${path}`, message };
}

/** What a turn may say, but none that repeats. */
function faultsOfRepeating(given: unknown, turn: TurnRequest | undefined): InputFault[] {
  const keys = typeof given === 'object' && given !== null ? Object.keys(given) : [];
  const refused = [
    { path: 'delayMs', message: 'must be left out: the cron says when each turn comes' },
    { path: 'idempotencyKey', message: 'must be left out: each firing gets a key of its own' },
  ].filter(({ path }) => keys.includes(path));
  const bytes = inlineBytes(turn?.files ?? []);
  if (bytes <= scheduledFilesLimitBytes) return refused;
  const limit = scheduledFilesLimitBytes / 1024;
  const message = `hold ${bytes} bytes in all, and a schedule keeps at most ${limit} KiB; give larger files by url`;
  return [...refused, { path: 'files', message }];
}

function inlineBytes(files: NonNullable<TurnRequest['files']>): number {
  return files.reduce((sum, file) => {
    if ('content' in file) return sum + Buffer.byteLength(file.content);
    return 'base64' in file ? sum + Buffer.byteLength(file.base64, 'base64') : sum;
  }, 0);
}
