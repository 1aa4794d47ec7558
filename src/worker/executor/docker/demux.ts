import type { OutputStream } from '../command.js';

const HEADER_BYTES = 8;

/** A piece of one stream's output: a frame's payload, or a part of it. */
export interface DemuxedPiece {
  readonly stream: OutputStream;
  readonly bytes: Buffer;
}

/** Takes apart the engine's multiplexed output: an 8-byte header (stream, 0, 0, 0, length as big-endian 32 bits), then the payload.
 *  Headers and payloads may be cut anywhere. Payload passes through as it comes, so memory is bounded by the caller's reads;
 *  who pulls from the socket only after he has used what came before has back-pressure. */
export class Demuxer {
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #payloadLeft = 0;
  #stream: OutputStream = 'stdout';

  /** The pieces in the next bytes from the engine. @throws Error when a header is none (a stream without frames, or one out of step) */
  push(chunk: Buffer): DemuxedPiece[] {
    const pieces: DemuxedPiece[] = [];
    let at = 0;
    while (at < chunk.length) {
      if (this.#payloadLeft === 0) {
        at += this.#takeHeader(chunk.subarray(at));
        continue;
      }
      const bytes = chunk.subarray(at, at + this.#payloadLeft);
      pieces.push({ stream: this.#stream, bytes });
      this.#payloadLeft -= bytes.length;
      at += bytes.length;
    }
    return pieces;
  }

  #takeHeader(chunk: Buffer): number {
    const taken = chunk.copy(this.#header, this.#headerBytes, 0, HEADER_BYTES - this.#headerBytes);
    this.#headerBytes += taken;
    if (this.#headerBytes < HEADER_BYTES) return taken;
    const kind = this.#header.readUInt8(0);
    if (kind !== 1 && kind !== 2) {
      throw new Error(`the engine sent a frame of unknown kind ${kind}`);
    }
    if (this.#header.readUIntBE(1, 3) !== 0) throw new Error('the engine sent a bad frame header');
    this.#stream = kind === 1 ? 'stdout' : 'stderr';
    this.#payloadLeft = this.#header.readUInt32BE(4);
    this.#headerBytes = 0;
    return taken;
  }
}
