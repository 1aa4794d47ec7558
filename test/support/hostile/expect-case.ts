import { expect } from 'vitest';
import { z } from 'zod';
import type { TurnResult } from '../../../src/shared/contracts/index.js';
import type { Expected, HostileCase } from './hostile-case.js';
import { rightBytes, type HostileTurn, type SeenHost } from './hostile-turn.js';

const runResult = z.object({
  stdout: z.string(),
  stderr: z.string(),
  exit_code: z.number(),
  timed_out: z.boolean(),
  output_files: z.array(
    z.object({ name: z.string(), content: z.string(), size_bytes: z.number() }),
  ),
  warnings: z.array(z.string()),
});
type Call = TurnResult['toolCalls'][number];

const lost = /sandbox was lost|could not be collected/;

/** Holds a turn's end, and what the host showed before it, against what must be. */
export function expectTurn(turn: HostileTurn, result: TurnResult, seen: SeenHost): void {
  expect(result).toMatchObject({
    status: 'completed',
    output: `survived ${turn.id}`,
    attempts: 1,
    error: null,
  });
  const [write] = result.toolCalls;
  if (write === undefined) throw new Error('the first call is missing');
  expectCall(write, { files: { 'out/kept': `out ${turn.id}\n` } });
  expect(seen.traces).toEqual([]);
  if (turn.cases.some((one) => one.mayReplace === true)) return;
  expect(seen.containers, seen.described.join('\n')).toHaveLength(1);
  expect(seen.processes).toBeGreaterThan(0);
}

/** Holds a case's calls against what must come of them. */
export function expectCase(turn: HostileTurn, one: HostileCase, result: TurnResult): void {
  const before = turn.cases.slice(0, turn.cases.indexOf(one));
  const from = before.reduce((sum, { steps }) => sum + steps.length + 1, 1);
  const calls = result.toolCalls.slice(from, from + one.steps.length + 1);
  const last = calls.pop();
  expect(calls).toHaveLength(one.steps.length);
  for (const [index, { expected }] of one.steps.entries()) {
    const call = calls[index];
    if (call === undefined || (one.mayReplace === true && isLost(call))) continue;
    expectCall(call, expected);
  }
  if (last === undefined) throw new Error('the call behind the attack is missing');
  expectCheck(turn, one, last);
}

/** Did the sandbox go with the command, and is that said? */
function isLost(call: Call): boolean {
  if (call.error !== null) return lost.test(call.error.message);
  return runResult.parse(call.result).warnings.some((warning) => lost.test(warning));
}

/** The command behind the attack finds its files, also in a sandbox that took the place of one that was lost. */
function expectCheck(turn: HostileTurn, one: HostileCase, call: Call): void {
  const { stdout, exit_code, warnings } = runResult.parse(call.result);
  const found = one.takesFiles === true ? '' : `work ${turn.id}\nout ${turn.id}\n`;
  expect({ stdout, exit_code }).toEqual({ stdout: `${found}${rightBytes}`, exit_code: 0 });
  if (one.mayReplace !== true) expect(warnings.join('\n')).not.toMatch(/lost|replaced/);
}

function expectCall(call: Call, expected: Expected): void {
  expect(call.error?.code, call.error?.message ?? '').toBe(expected.error);
  if (expected.error !== undefined && expected.timedOut !== true) return;
  const got = runResult.parse(call.result);
  if (expected.exit === 'fails') expect(got.exit_code, got.stderr).not.toBe(0);
  else expect(got.exit_code, got.stderr).toBe(expected.exit ?? 0);
  expect(got.timed_out).toBe(expected.timedOut ?? false);
  expectText('stdout', got.stdout, expected.stdout ?? '');
  expectText('stderr', got.stderr, expected.stderr ?? '');
  expectWarnings(got.warnings, expected.warnings ?? []);
  expectFiles(got.output_files, expected.files ?? {});
}

function expectText(what: string, got: string, wanted: string | RegExp): void {
  if (typeof wanted === 'string') expect(got, what).toBe(wanted);
  else expect(got, what).toMatch(wanted);
}

function expectWarnings(got: readonly string[], wanted: readonly RegExp[]): void {
  // All at once, so that what was not wanted is shown.
  expect(got, 'warnings').toEqual(wanted.map((pattern): unknown => expect.stringMatching(pattern)));
}

function expectFiles(
  got: readonly { name: string; content: string; size_bytes: number }[],
  wanted: NonNullable<Expected['files']>,
): void {
  expect(got.map(({ name }) => name).sort()).toEqual(Object.keys(wanted).sort());
  for (const { name, content, size_bytes } of got) {
    const value = wanted[name];
    if (typeof value === 'number') expect([size_bytes, content], name).toEqual([value, '']);
    else expectText(name, content, value ?? '');
  }
}
