/** A line without its end, as text; `isCut` when it was longer than the limit and the rest of it is dropped. */
export interface Line {
  readonly text: string;
  readonly isCut: boolean;
}

/** Cuts a stream of bytes into lines. Holds no more than the limit and one chunk, whatever comes. */
export class LineCutter {
  readonly #limitBytes: number;
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** The line was given out already, being too long; what is left of it is skipped. */
  #skipping = false;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** The lines that this chunk ends, and the beginning of one that is too long. */
  *push(chunk: Buffer): Generator<Line> {
    let rest = chunk;
    for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline)) {
      const line = this.#take(rest.subarray(0, end), true);
      if (line !== undefined) yield line;
      rest = rest.subarray(end + 1);
    }
    const line = this.#take(rest, false);
    if (line !== undefined) yield line;
  }

  #take(bytes: Buffer, ends: boolean): Line | undefined {
    if (this.#skipping) {
      this.#skipping = !ends;
      return undefined;
    }
    this.#held.push(bytes);
    this.#heldBytes += bytes.length;
    const isCut = this.#heldBytes > this.#limitBytes;
    if (!ends && !isCut) return undefined;
    const whole = this.#held.length === 1 ? bytes : Buffer.concat(this.#held);
    this.#held = [];
    this.#heldBytes = 0;
    this.#skipping = isCut && !ends;
    const kept = whole.subarray(0, this.#limitBytes);
    return { text: kept.toString('utf8').replace(/\r$/, ''), isCut };
  }
}

const newline = 0x0a;

/** Tells lines, so many in a time at the most; of the others how many they were. */
export class LineLog {
  readonly #tell: (text: string) => void;
  readonly #most: number;
  readonly #windowMs: number;
  #windowEnd = 0;
  #told = 0;
  #dropped = 0;

  constructor(tell: (text: string) => void, most = 100, windowMs = 10_000) {
    this.#tell = tell;
    this.#most = most;
    this.#windowMs = windowMs;
  }

  add({ text, isCut }: Line): void {
    const now = performance.now();
    if (now >= this.#windowEnd) {
      this.end();
      this.#windowEnd = now + this.#windowMs;
      this.#told = 0;
    }
    this.#told += 1;
    if (this.#told <= this.#most) this.#tell(isCut ? `${text} […]` : text);
    else this.#dropped += 1;
  }

  /** Tells how many lines were left out since the last that was told. */
  end(): void {
    if (this.#dropped > 0) this.#tell(`[${this.#dropped} lines left out]`);
    this.#dropped = 0;
  }
}
