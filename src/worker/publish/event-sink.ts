import type { TurnEventBody } from '../../shared/contracts/index.js';
import { TurnWriter, type WriterOptions, type WrittenEntry } from './turn-writer.js';

/** Where a turn's steps are published. */
export interface EventSink {
  /** Publishes in the order of the calls, soon; a refused write aborts the attempt through the lease. */
  emit(...bodies: readonly TurnEventBody[]): void;
  /** Publishes events and appends entries to the journal in one step, behind all that was emitted before. @throws SkillmillError LEASE_LOST, INTERNAL */
  append(bodies: readonly TurnEventBody[], entries: readonly WrittenEntry[]): Promise<void>;
  /** Discards messages whose deltas an attempt before has published, and that never came to their end. */
  discard(messageIds: readonly string[]): void;
  /** A command's output as it comes: small pieces are put together, and past 64 KiB a command's rest is left out. */
  output(callId: string, stream: 'stdout' | 'stderr', text: string): void;
  /** What a model says, as it comes; pieces are put together as a command's are. */
  delta(messageId: string, text: string): void;
  /** How many messages wait to join the turn, as far as the last write told. */
  readonly waiting: number;
  /** Waits until all that was emitted is published, or never will be. */
  flush(): Promise<void>;
}

const outputPieceChars = 8 * 1024;
const outputPerCallChars = 64 * 1024;
/** At most ten writes a second while a command prints. */
const outputPauseMs = 100;

/** Publishes events and journals entries with the lease's proof, in batches. */
export function createEventSink(options: WriterOptions): EventSink {
  const writer = new TurnWriter(options);
  let events: TurnEventBody[] = [];
  let entries: WrittenEntry[] = [];
  const shown = new Map<string, number>();
  let output: Piece[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();

  const write = async () => {
    const step = { events, entries };
    events = [];
    entries = [];
    await writer.write(step);
  };
  const say = (bodies: readonly TurnEventBody[]) => {
    events.push(...output, ...bodies);
    output = [];
  };
  const publish = () => {
    clearTimeout(timer);
    timer = undefined;
    say([]);
    const written = writing.then(write);
    // Whoever waits for its own step is told; the attempt ends through the lease.
    writing = written.catch(() => undefined);
    return written;
  };
  const flush = () => publish().catch(() => undefined);

  return {
    emit(...bodies) {
      say(bodies);
      void flush();
    },
    append(bodies, added) {
      say(bodies);
      entries.push(...added);
      return publish();
    },
    discard(messageIds) {
      writer.adopt(messageIds);
      say(messageIds.map((messageId) => ({ type: 'message.discarded', messageId })));
      void flush();
    },
    get waiting() {
      return writer.waiting;
    },
    output(callId, stream, text) {
      const soFar = shown.get(callId) ?? 0;
      const room = outputPerCallChars - soFar;
      if (room < 0 || text === '') return; // the rest has been announced
      shown.set(callId, soFar + text.length);
      const cut = text.slice(0, room).replace(/[\ud800-\udbff]$/, '');
      const piece = text.length > room ? `${cut}\n… the rest is not shown here\n` : text;
      addOutput(output, { type: 'tool.output', callId, stream, text: piece });
      timer ??= setTimeout(() => void flush(), outputPauseMs);
    },
    delta(messageId, text) {
      const last = output.at(-1);
      const joins = last?.type === 'message.delta' && last.messageId === messageId;
      if (joins) last.text += text;
      else output.push({ type: 'message.delta', messageId, text });
      timer ??= setTimeout(() => void flush(), outputPauseMs);
    },
    flush,
  };
}

type OutputPiece = Extract<TurnEventBody, { type: 'tool.output' }>;
type Piece = OutputPiece | Extract<TurnEventBody, { type: 'message.delta' }>;

/** Joins a piece to the last one of its stream while that is small: a command that alternates its streams must not make an event a byte. */
function addOutput(output: Piece[], piece: OutputPiece): void {
  const last = output.findLast(
    (other) => other.type === 'tool.output' && other.stream === piece.stream,
  );
  if (last?.type !== 'tool.output') {
    output.push(piece);
    return;
  }
  const joins = last.callId === piece.callId && last.text.length < outputPieceChars;
  if (joins) last.text += piece.text;
  else output.push(piece);
}
