import type { TurnEventBody } from '../../shared/contracts/index.js';

const outputPieceChars = 8 * 1024;
const outputPerCallChars = 64 * 1024;

type OutputPiece = Extract<TurnEventBody, { type: 'tool.output' }>;
type Piece = OutputPiece | Extract<TurnEventBody, { type: 'message.delta' }>;

/** What commands and models say, as it comes: small pieces are put together, and past 64 KiB a command's rest is left out. */
export class EventPieces {
  private pieces: Piece[] = [];
  /** By call: how much of its output was said. */
  private readonly shown = new Map<string, number>();

  output(callId: string, stream: 'stdout' | 'stderr', text: string): void {
    const soFar = this.shown.get(callId) ?? 0;
    const room = outputPerCallChars - soFar;
    if (room < 0 || text === '') return; // the rest has been announced
    this.shown.set(callId, soFar + text.length);
    const cut = text.slice(0, room).replace(/[\ud800-\udbff]$/, '');
    const piece = text.length > room ? `${cut}\n… the rest is not shown here\n` : text;
    addOutput(this.pieces, { type: 'tool.output', callId, stream, text: piece });
  }

  delta(messageId: string, text: string): void {
    const last = this.pieces.at(-1);
    const joins = last?.type === 'message.delta' && last.messageId === messageId;
    if (joins) last.text += text;
    else this.pieces.push({ type: 'message.delta', messageId, text });
  }

  /** What was said since this was asked last. */
  take(): readonly TurnEventBody[] {
    const pieces = this.pieces;
    this.pieces = [];
    return pieces;
  }
}

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
