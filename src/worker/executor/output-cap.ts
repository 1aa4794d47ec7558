import { StringDecoder } from 'node:string_decoder';
import type { CapturedOutput } from './command.js';

/** Small writes are merged after this many, so that 16 KiB of one-byte writes are not 16,000 buffers. */
const MERGE_AFTER = 256;

/** Keeps the head and the tail of one output stream within a limit in bytes, whatever comes through.
 *  The limit counts the decoded text, since that is what is kept: a byte that is not UTF-8 becomes U+FFFD, three bytes.
 *  Memory stays below about three times the limit plus one write. */
export class OutputCap {
  readonly #decoder = new StringDecoder('utf8');
  readonly #headLimit: number;
  readonly #tailLimit: number;
  #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #textBytes = 0;
  #totalBytes = 0;

  constructor(limitBytes: number) {
    this.#headLimit = Math.floor(limitBytes / 2);
    this.#tailLimit = limitBytes - this.#headLimit;
  }

  /** Takes the next bytes and returns what of them is whole characters, for live output. */
  push(bytes: Uint8Array): string {
    this.#totalBytes += bytes.byteLength;
    const text = this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    this.#keep(text);
    return text;
  }

  /** Ends the stream: returns what a character cut short by the end became, usually ''. */
  end(): string {
    const rest = this.#decoder.end();
    this.#keep(rest);
    return rest;
  }

  /** What was kept; call it after `end`. */
  captured(): CapturedOutput {
    const head = Buffer.concat(this.#head);
    const tail = this.#lastOfTail();
    if (head.length + tail.length === this.#textBytes) {
      const text = Buffer.concat([head, tail]).toString('utf8');
      return { text, totalBytes: this.#totalBytes, droppedBytes: 0 };
    }
    const first = head.subarray(0, wholeCharacters(head));
    const last = tail.subarray(firstCharacter(tail));
    const droppedBytes = this.#textBytes - first.length - last.length;
    const text = `${first.toString('utf8')}${dropMarker(droppedBytes)}${last.toString('utf8')}`;
    return { text, totalBytes: this.#totalBytes, droppedBytes };
  }

  #keep(text: string): void {
    if (text === '') return;
    const bytes = Buffer.from(text, 'utf8');
    this.#textBytes += bytes.length;
    const forHead = bytes.subarray(0, this.#headLimit - this.#headBytes);
    if (forHead.length > 0) {
      this.#head.push(Buffer.from(forHead));
      this.#headBytes += forHead.length;
    }
    // Copied, so that 16 KiB kept do not hold a whole 64 KiB read.
    const forTail = bytes.subarray(Math.max(forHead.length, bytes.length - this.#tailLimit));
    if (forTail.length === 0) return;
    this.#tail.push(Buffer.from(forTail));
    this.#tailBytes += forTail.length;
    if (this.#tail.length > MERGE_AFTER || this.#tailBytes > 2 * this.#tailLimit)
      this.#lastOfTail();
    if (this.#head.length > MERGE_AFTER) this.#head = [Buffer.concat(this.#head)];
  }

  #lastOfTail(): Buffer {
    const all = Buffer.concat(this.#tail);
    const last = Buffer.from(all.subarray(Math.max(0, all.length - this.#tailLimit)));
    this.#tail = [last];
    this.#tailBytes = last.length;
    return last;
  }
}

/** The line that `dropMarker` writes. */
export const dropMark = /\n\[\.\.\. \d+ bytes left out \.\.\.\]\n/;

/** The line that stands in a captured text where bytes were left out. */
export function dropMarker(droppedBytes: number): string {
  return `\n[... ${droppedBytes} bytes left out ...]\n`;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Where the last whole character of valid UTF-8 ends when it may have been cut at its end. */
function wholeCharacters(bytes: Buffer): number {
  let start = bytes.length - 1;
  while (start >= 0 && isContinuation(bytes[start])) start -= 1;
  const lead = bytes[start];
  if (lead === undefined) return 0;
  const size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return start + size <= bytes.length ? start + size : start;
}

/** Where the first whole character begins when valid UTF-8 may have been cut at its start. */
function firstCharacter(bytes: Buffer): number {
  let start = 0;
  while (isContinuation(bytes[start])) start += 1;
  return start;
}
