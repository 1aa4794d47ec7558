/** How a request ended, as the supervisor says at the end of each stream. */
export interface Ending {
  readonly exitCode: number;
  /** How many processes the memory limit has killed since the container was made. */
  readonly oomKills: number;
  /** True when something that the request started could not be ended. */
  readonly left: boolean;
  /** True when it was a command after which out/ is empty. */
  readonly quiet: boolean;
}

const LINE_LIMIT_BYTES = 64;
const NEWLINE = 0x0a;

/** Finds the end of one stream: a line that begins, anywhere, with a nonce which nobody but the supervisor knows. What comes
 *  before passes through as it comes; only bytes that may be the nonce's beginning wait for the next ones. */
export class EndMarker {
  readonly #nonce: Buffer;
  #held: Buffer = Buffer.alloc(0);
  #ending: Ending | undefined;

  constructor(nonce: string) {
    this.#nonce = Buffer.from(nonce, 'latin1');
  }

  /** How the request ended; undefined until the end was seen. */
  get ending(): Ending | undefined {
    return this.#ending;
  }

  /** What of the next bytes is the stream's content. @throws Error for an end that makes no sense, or bytes after it */
  push(chunk: Buffer): Buffer {
    if (this.#ending !== undefined) throw new Error('its channel is out of step');
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const at = bytes.indexOf(this.#nonce);
    const contentEnd = at === -1 ? bytes.length - this.#possibleStart(bytes) : at;
    this.#held = bytes.subarray(contentEnd);
    if (at !== -1) this.#readLine();
    return bytes.subarray(0, contentEnd);
  }

  #possibleStart(bytes: Buffer): number {
    for (let length = Math.min(this.#nonce.length - 1, bytes.length); length > 0; length -= 1) {
      const isStart = bytes.subarray(bytes.length - length).equals(this.#nonce.subarray(0, length));
      if (isStart) return length;
    }
    return 0;
  }

  #readLine(): void {
    const end = this.#held.indexOf(NEWLINE);
    if (end === -1 && this.#held.length < this.#nonce.length + LINE_LIMIT_BYTES) return;
    const line = this.#held.subarray(this.#nonce.length).toString('latin1');
    const found = /^ (\d{1,3}) (\d+) ([01]) ([01])\n$/.exec(line);
    if (found === null) throw new Error('its channel is out of step');
    const [, code, oomKills, left, quiet] = found;
    this.#ending = {
      exitCode: Number(code),
      oomKills: Number(oomKills),
      left: left === '1',
      quiet: quiet === '1',
    };
  }
}
