import type { TurnEventBody } from '../../shared/contracts/index.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { RedisClient } from '../../shared/redis/redis-client.js';
import { appendEventsScript } from '../../shared/redis/scripts/append-events.js';
import type { LeaseProof } from '../session/lease.js';

/** Where a turn's steps are published. */
export interface EventSink {
  /** Publishes in the order of the calls, soon; a refused write aborts the attempt through the lease. */
  emit(body: TurnEventBody): void;
  /** A command's output as it comes: small pieces are put together, and past 64 KiB a command's rest is left out. */
  output(callId: string, stream: 'stdout' | 'stderr', text: string): void;
  /** What a model says, as it comes; pieces are put together as a command's are. */
  delta(messageId: string, text: string): void;
  /** Waits until all that was emitted is published. */
  flush(): Promise<void>;
}

export interface SinkOptions {
  readonly client: RedisClient;
  readonly proof: LeaseProof;
  /** The lease is no longer in force. */
  readonly onLost: () => void;
  readonly onFault: (error: SkillmillError) => void;
}

const outputPieceChars = 8 * 1024;
const outputPerCallChars = 64 * 1024;
/** At most ten writes a second while a command prints. */
const outputPauseMs = 100;

/** Publishes events with the lease's proof, in batches. */
export function createEventSink(options: SinkOptions): EventSink {
  const pending: TurnEventBody[] = [];
  const shown = new Map<string, number>();
  let output: Piece[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();

  const write = async () => {
    if (pending.length === 0) return;
    const { keys, token, nonce } = options.proof;
    try {
      const bodies = pending.splice(0).map((body) => JSON.stringify(body));
      const seq = await appendEventsScript.run(
        options.client,
        [keys.session, keys.turn, keys.events],
        [token, nonce, ...bodies],
      );
      if (seq === -1) options.onLost();
    } catch (error) {
      options.onFault(SkillmillError.from(error));
    }
  };
  const publish = () => {
    clearTimeout(timer);
    timer = undefined;
    pending.push(...output);
    output = [];
    return (writing = writing.then(write));
  };

  return {
    emit(body) {
      pending.push(...output, body);
      output = [];
      void publish();
    },
    output(callId, stream, text) {
      const soFar = shown.get(callId) ?? 0;
      const room = outputPerCallChars - soFar;
      if (room < 0 || text === '') return; // the rest has been announced
      shown.set(callId, soFar + text.length);
      const cut = text.slice(0, room).replace(/[\ud800-\udbff]$/, '');
      const piece = text.length > room ? `${cut}\n… the rest is not shown here\n` : text;
      addOutput(output, { type: 'tool.output', callId, stream, text: piece });
      timer ??= setTimeout(() => void publish(), outputPauseMs);
    },
    delta(messageId, text) {
      const last = output.at(-1);
      const joins = last?.type === 'message.delta' && last.messageId === messageId;
      if (joins) last.text += text;
      else output.push({ type: 'message.delta', messageId, text });
      timer ??= setTimeout(() => void publish(), outputPauseMs);
    },
    flush: publish,
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
