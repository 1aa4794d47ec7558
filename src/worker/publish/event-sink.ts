import type { TurnEventBody } from '../../shared/contracts/index.js';
import { EventPieces } from './event-pieces.js';
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
  /** Has the attempt got a step further? */
  readonly hasProgress: boolean;
  /** Waits until all that was emitted is published, or never will be. */
  flush(): Promise<void>;
}

/** At most ten writes a second while a command prints. */
const outputPauseMs = 100;

/** Publishes events and journals entries with the lease's proof, in batches. */
export function createEventSink(options: WriterOptions): EventSink {
  const writer = new TurnWriter(options);
  let events: TurnEventBody[] = [];
  let entries: WrittenEntry[] = [];
  const pieces = new EventPieces();
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();

  const write = async () => {
    const step = { events, entries };
    events = [];
    entries = [];
    await writer.write(step);
  };
  const say = (bodies: readonly TurnEventBody[]) => {
    events.push(...pieces.take(), ...bodies);
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
    get hasProgress() {
      return writer.hasProgress;
    },
    get waiting() {
      return writer.waiting;
    },
    output(callId, stream, text) {
      pieces.output(callId, stream, text);
      timer ??= setTimeout(() => void flush(), outputPauseMs);
    },
    delta(messageId, text) {
      pieces.delta(messageId, text);
      timer ??= setTimeout(() => void flush(), outputPauseMs);
    },
    flush,
  };
}
