import { isFinalEvent, type TurnId, type TurnResult } from '../../shared/contracts/index.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { Client } from '../client.js';
import type { CommandContext } from './command-context.js';
import { plainPrintable, printableLine } from './printable.js';
import { renderEvent } from './render-event.js';
import { writeArtifacts } from './write-artifacts.js';

export interface OutputOptions {
  readonly json?: boolean;
  readonly out?: string;
}

const hintAfterMs = 4000;

/** Shows a turn's steps until its result is there. */
export async function followToEnd(
  client: Client,
  context: CommandContext,
  turnId: string,
  signal?: AbortSignal,
): Promise<TurnResult> {
  const hint = setTimeout(() => {
    context.stderr('still waiting: no worker has taken the turn yet (start one: skillmill worker)');
  }, hintAfterMs);
  try {
    for await (const event of client.events(turnId, signal === undefined ? {} : { signal })) {
      if (event.type === 'turn.started') clearTimeout(hint);
      for (const line of renderEvent(event, context.colour)) context.stderr(line);
      if (isFinalEvent(event)) return event.result;
    }
  } finally {
    clearTimeout(hint);
  }
  return client.result(turnId, { waitMs: 0 });
}

/** Prints a result as asked (answer or JSON on stdout, files below --out) and gives the exit code. */
export async function deliverResult(
  client: Client,
  context: CommandContext,
  result: TurnResult,
  options: OutputOptions,
): Promise<number> {
  let lost = false;
  if (options.out !== undefined) {
    const outcome = await writeArtifacts(client, result.artifacts, options.out);
    lost = outcome.faults.length > 0;
    for (const path of outcome.written) context.stderr(`wrote ${printableLine(path)}`);
    for (const fault of outcome.faults) context.stderr(`not written: ${printableLine(fault)}`);
  }
  if (options.json === true) context.stdout(`${JSON.stringify(result, null, 2)}\n`);
  else if (result.output !== '') {
    const text = context.stdoutIsTerminal ? plainPrintable(result.output) : result.output;
    context.stdout(text.endsWith('\n') ? text : `${text}\n`);
  }
  return lost && result.status === 'completed' ? 1 : exitCodeOf(result);
}

/** 0 completed, 1 failed, 130 cancelled (DESIGN §3.5). */
export function exitCodeOf(result: Pick<TurnResult, 'status'>): number {
  return { completed: 0, failed: 1, cancelled: 130 }[result.status];
}

/** Runs `work` while Ctrl-C (and SIGTERM) cancels the turn; a second one stops waiting for its end. */
export async function cancellingOnInterrupt<T>(
  client: Client,
  context: CommandContext,
  turnId: TurnId,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const giveUp = new AbortController();
  let asked = false;
  const interrupt = () => {
    if (asked) {
      giveUp.abort();
      return;
    }
    asked = true;
    context.stderr('cancelling the turn (once more: stop waiting for it)');
    client.cancel(turnId).catch((error: unknown) => {
      context.stderr(SkillmillError.from(error).message);
      giveUp.abort();
    });
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  try {
    return await work(giveUp.signal);
  } catch (error) {
    if (!giveUp.signal.aborted) throw error;
    throw new SkillmillError(
      'CANCELLED',
      `Turn ${turnId} was asked to stop; its result is not awaited.`,
    );
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
}
