import { randomUUID } from 'node:crypto';
import { closeSync, createReadStream, openSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

/** Of each stream no more than this is kept. */
const spillLimitBytes = 8 * 1024 * 1024;
const memoryBytes = 16 * 1024;

/** All that a command prints on one stream, up to a limit: in memory while it is little, then in a file that has no name, so
 *  that many commands at once do not fill the worker's memory, and nothing is left of one that dies. */
export class OutputSpill {
  #held: Buffer[] = [];
  #heldBytes = 0;
  #writtenBytes = 0;
  #file: number | undefined;
  #failed = false;
  #isFull = false;

  /** Was something left out at its end? */
  get isCut(): boolean {
    return this.#isFull || this.#failed;
  }

  /** Takes the next text; never throws, since it runs while output is read. */
  add(text: string): void {
    if (this.isCut || text === '') return;
    const room = spillLimitBytes - this.#writtenBytes - this.#heldBytes;
    const bytes = Buffer.from(text, 'utf8');
    this.#isFull = bytes.length > room;
    const kept = this.#isFull ? wholeCharacters(bytes.subarray(0, room)) : bytes;
    this.#held.push(kept);
    this.#heldBytes += kept.length;
    if (this.#heldBytes > memoryBytes) this.#write();
  }

  /** What was kept. @throws errors of the file system */
  async content(): Promise<Buffer> {
    const held = Buffer.concat(this.#held);
    if (this.#file === undefined) return held;
    const written = createReadStream('', { fd: this.#file, start: 0, autoClose: false });
    return Buffer.concat([await buffer(written), held]);
  }

  /** Gives the file back; idempotent. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#held = [];
  }

  #write(): void {
    try {
      this.#file ??= openNameless();
      const bytes = Buffer.concat(this.#held);
      for (let at = 0; at < bytes.length;) at += writeSync(this.#file, bytes, at);
      this.#writtenBytes += bytes.length;
      this.#held = [];
      this.#heldBytes = 0;
    } catch {
      // The disk of this machine is full, say: what was kept so far is told as cut.
      this.#failed = true;
    }
  }
}

function openNameless(): number {
  const path = join(tmpdir(), `skillmill-output-${randomUUID()}`);
  const file = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return file;
}

/** Without a character that was cut at its end. */
function wholeCharacters(bytes: Buffer): Buffer {
  return Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true }));
}
