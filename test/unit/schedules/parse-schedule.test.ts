import { describe, expect, it } from 'vitest';
import { parseSchedule, parseScheduleName } from '../../../src/producer/parse-schedule.js';

const good = { name: 'nightly', cron: '0 3 * * *', turn: { input: 'hello' } };

/** The faults of a schedule, by path. */
function faultsOf(input: unknown): Record<string, string> {
  try {
    parseSchedule(input);
  } catch (error) {
    const { code, details } = error as { code: string; details: { faults: never[] } };
    expect(code).toBe('INPUT_INVALID');
    const faults: { path: string; message: string }[] = details.faults;
    return Object.fromEntries(faults.map(({ path, message }) => [path, message]));
  }
  return {};
}

const cronFaultOf = (cron: string) => faultsOf({ ...good, cron })['cron'];

describe('a schedule', () => {
  it('is told in UTC unless it says where', () => {
    expect(parseSchedule(good)).toEqual({ ...good, timeZone: 'UTC' });
    const timeZone = 'Europe/Berlin';
    expect(parseSchedule({ ...good, timeZone })).toEqual({ ...good, timeZone });
  });

  it('is refused with every fault at once', () => {
    const turn = { input: '', delayMs: 5, idempotencyKey: 'k', sessionId: 'a b' };
    const input = { name: 'a/b', cron: 'x', timeZone: 'Mars/Base', turn, every: 5 };
    expect(Object.keys(faultsOf(input)).sort()).toEqual([
      ...['cron', 'every', 'name', 'timeZone', 'turn.delayMs', 'turn.idempotencyKey'],
      ...['turn.input', 'turn.sessionId'],
    ]);
    expect(Object.keys(faultsOf({})).sort()).toEqual(['cron', 'name', 'turn']);
    expect(Object.keys(faultsOf(null))).toEqual(['', 'turn']);
  });

  it.each([{ delayMs: 0 }, { idempotencyKey: 'k' }])('has no turn with %o', (more) => {
    const faults = faultsOf({ ...good, turn: { ...good.turn, ...more } });
    expect(Object.values(faults)).toEqual([expect.stringContaining('must be left out')]);
  });

  it('keeps 256 KiB of files and refuses a byte more, with the way out', () => {
    const files = (bytes: number) => [
      { path: 'a', content: 'ä' },
      { path: 'b', base64: Buffer.alloc(bytes - 2).toString('base64') },
      { path: 'c', url: 'https://example.com/c' },
    ];
    const withFiles = (bytes: number) => ({
      ...good,
      turn: { input: 'x', files: files(bytes) },
    });
    expect(faultsOf(withFiles(262_144))).toEqual({});
    expect(faultsOf(withFiles(262_145))['turn.files']).toMatch(/262145 bytes.*256 KiB.*url/);
  });

  it('has a name of ours', () => {
    for (const name of ['a', 'A.b_c-1', '__proto__', 'x'.repeat(128)]) {
      expect(parseSchedule({ ...good, name }).name).toBe(name);
      expect(parseScheduleName(name)).toBe(name);
    }
    for (const name of ['', 'a b', 'a:b', 'a/b', 'ä', 'x'.repeat(129)]) {
      expect(faultsOf({ ...good, name })).toHaveProperty('name');
      expect(() => parseScheduleName(name)).toThrow('is no name of a schedule');
    }
  });
});

describe('a cron pattern', () => {
  it.each([
    ...['* * * * *', '*/5 * * * * *', '0 9 * * mon-fri', '0 0 29 2 *', '0 0 L * *', '0 0 * * 5#3'],
    ...['@daily', '@weekdays', ' 0  0 * * * ', '0 0 * mar THU'],
  ])('%s is one', (cron) => {
    expect(cronFaultOf(cron)).toBeUndefined();
  });

  it.each([
    ['0 0 30 2 *', 'is no cron pattern'],
    ['0 0 31 2,4 *', 'never fires'],
    ['61 * * * *', '61'],
    ['*/0 * * * *', 'is no cron pattern'],
    ['5-1 * * * *', '5-1'],
    ['* *', 'has 2 fields'],
    ['', 'has 0 fields'],
    ['  ', 'has 0 fields'],
    ['1 2 3 4 5 6 7', 'has 7 fields'],
    ['@often', 'has 1 fields'],
    ['H * * * *', 'random'],
    ['H/5 * * * *', 'random'],
    ['* * * * nay', 'is no cron pattern'],
    [`${'0,'.repeat(200)}0 * * * *`, 'at most 256'],
  ])('%s is none: %s', (cron, why) => {
    expect(cronFaultOf(cron)).toContain(why);
  });

  it.each(['', 'local', 'Mars/Base', '+03:00', 'utc+3'])('%s is no time zone', (timeZone) => {
    expect(faultsOf({ ...good, timeZone })).toEqual({
      timeZone: expect.stringContaining('no time zone') as string,
    });
  });
});
