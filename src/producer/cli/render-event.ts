import { styleText } from 'node:util';
import { plainPrintable, printableLine } from './printable.js';
import type { TurnEvent } from '../../shared/contracts/index.js';

type Style = 'dim' | 'bold' | 'red' | 'green' | 'yellow';

/** Lines for one event of a turn's timeline; none for events that say nothing to a person. */
export function renderEvent(event: TurnEvent, colour: boolean): string[] {
  const paint = (style: Style, text: string) => (colour ? styleText(style, text) : text);
  switch (event.type) {
    case 'turn.queued':
      return [`queued ${event.turnId} in session ${event.sessionId}${placeOf(event)}`];
    case 'turn.started':
      return [`started${event.attempt > 1 ? ` again, attempt ${event.attempt}` : ''}`];
    case 'turn.parked':
      return ['its worker stops; another one goes on with it'];
    case 'message.joined':
      return [`  a message joined: ${printableLine(event.text)}`];
    case 'turn.retrying':
      return [
        paint(
          'yellow',
          `retrying in ${seconds(event.afterMs)}: ${printableLine(event.error.message)}`,
        ),
      ];
    case 'message.delta':
    case 'message.discarded':
      return []; // a terminal shows whole messages
    case 'message.completed':
      return event.toolCallIds.length > 0 && event.text.trim() !== ''
        ? [plainPrintable(event.text.trim())]
        : [];
    case 'tool.started':
      return [
        paint('bold', `> ${printableLine(event.name)} ${describeArguments(event.arguments)}`),
      ];
    case 'tool.output':
      return outputLines(event.text).map((line) => paint('dim', `  ${line}`));
    case 'tool.completed':
      return [completedLine(event, paint)];
    case 'skill.loaded':
      return [`  loaded skill ${printableLine(event.name)} (${event.digest.slice(0, 12)})`];
    case 'artifact.saved':
      return [`  saved ${printableLine(event.artifact.ref)}, ${event.artifact.sizeBytes} bytes`];
    case 'turn.completed':
      return [paint('green', `completed in ${seconds(event.result.timings.totalMs)}`)];
    case 'turn.failed':
    case 'turn.cancelled':
      return [paint('red', failureLine(event.result))];
  }
}

function placeOf({
  position,
  delayMs,
  joins,
}: Extract<TurnEvent, { type: 'turn.queued' }>): string {
  if (delayMs !== undefined) return `, due in ${seconds(delayMs)}`;
  if (joins !== undefined) return `, to join ${joins}`;
  return position > 1 ? `, ${position - 1} before it` : '';
}

function completedLine(
  event: Extract<TurnEvent, { type: 'tool.completed' }>,
  paint: (style: Style, text: string) => string,
): string {
  const took = seconds(event.durationMs);
  if (event.error !== null)
    return paint('red', `  failed: ${printableLine(event.error.message)} (${took})`);
  if (event.exitCode === null) return paint('dim', `  done (${took})`);
  return paint(event.exitCode === 0 ? 'dim' : 'red', `  exit ${event.exitCode} (${took})`);
}

function failureLine(result: {
  status: string;
  error: { code: string; message: string } | null;
}): string {
  return result.error === null
    ? result.status
    : `${result.status}: ${result.error.code}: ${printableLine(result.error.message)}`;
}

const shownOutputLines = 20;

function outputLines(text: string): string[] {
  const lines = text.replace(/\n$/, '').split('\n').map(plainPrintable);
  if (lines.length <= shownOutputLines) return lines;
  const hidden = lines.length - shownOutputLines;
  return [`… ${hidden} lines …`, ...lines.slice(-shownOutputLines)];
}

function describeArguments(value: unknown): string {
  const text =
    isRecord(value) && typeof value['command'] === 'string'
      ? `${typeof value['skill'] === 'string' ? `${value['skill']}: ` : ''}${value['command']}`
      : JSON.stringify(value);
  const line = printableLine(text);
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}
