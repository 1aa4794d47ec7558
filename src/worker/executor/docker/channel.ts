import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { errorMessage } from '../../../shared/errors/skillmill-error.js';
import { sandboxLost } from '../sandbox-failure.js';
import { Demuxer, type DemuxedPiece } from './demux.js';
import { EndMarker, type Ending } from './end-marker.js';
import type { SandboxScript } from './sandbox-scripts.js';
import { READY } from './supervisor-script.js';

const NONCE_BYTES = 18;
const MAX_PIECE_BYTES = 8 * 1024 * 1024;

/** What the supervisor is to run: one of our scripts, with values as its arguments only. */
export interface ChannelRequest {
  /** A command sees the image's environment, a process of ours one that is always the same. */
  readonly kind: 'command' | 'helper';
  /** User and group. */
  readonly user: number;
  readonly script: SandboxScript;
  readonly args?: readonly string[];
  /** What stands first on standard input, each closed by NUL. */
  readonly lines?: readonly string[];
  /** What follows on standard input; without it and without lines that is empty. */
  readonly input?: Iterable<Buffer> | AsyncIterable<Buffer>;
}

/** The way to a container's supervisor: one request at a time. */
export class Channel {
  readonly #socket: Duplex;
  readonly #chunks: AsyncIterator<unknown, unknown>;
  readonly #demuxer = new Demuxer();
  /** A read that was begun before anybody asked for what it gives. */
  #ahead: Promise<IteratorResult<unknown, unknown>> | undefined;

  constructor(socket: Duplex) {
    this.#socket = socket;
    this.#chunks = socket[Symbol.asyncIterator]();
  }

  /** What the supervisor says when it has made the workspace. */
  ready(): Exchange {
    return new Exchange(READY, () => this.#nextPieces());
  }

  /** Sends a request. The exchange must be read to its end before the next. */
  request(request: ChannelRequest): Exchange {
    const nonce = randomBytes(NONCE_BYTES).toString('hex');
    const exchange = new Exchange(nonce, () => this.#nextPieces());
    exchange.sending = this.#send(nonce, request, exchange);
    return exchange;
  }

  /** Settles when the channel ends (true) or the first reply comes (false). Only while no exchange is under way. */
  async hasEnded(): Promise<boolean> {
    this.#ahead ??= this.#chunks.next();
    try {
      return (await this.#ahead).done === true;
    } catch {
      return true;
    }
  }

  /** Gives the channel up. */
  destroy(): void {
    this.#socket.destroy();
  }

  async #send(nonce: string, request: ChannelRequest, exchange: Exchange): Promise<void> {
    const { kind, user, script, args = [], lines = [], input } = request;
    const fed = input === undefined ? 0 : 1;
    const head = `${nonce} ${kind} ${user} ${script} ${args.length} ${lines.length} ${fed}\n`;
    const given = [...args, ...lines].map((value) => `${value}\0`).join('');
    if (input === undefined) {
      await this.#write(`${head}${given}${nonce}\0`);
      return;
    }
    await this.#write(`${head}${given}`);
    try {
      for await (const piece of inPieces(input)) {
        if (exchange.stopped) break;
        await this.#write(`${lengthOf(piece)}\n`);
        for (const bytes of piece) await this.#write(bytes);
      }
    } catch (thrown) {
      exchange.inputFailure = thrown instanceof Error ? thrown : new Error(errorMessage(thrown));
    }
    await this.#write(`0\n${nonce}\0`);
  }

  async #write(bytes: string | Buffer): Promise<void> {
    const socket = this.#socket;
    if (socket.destroyed || socket.write(bytes)) return;
    await new Promise<void>((resolve) => {
      const events = ['drain', 'close', 'error'];
      const done = () => {
        for (const event of events) socket.off(event, done);
        resolve();
      };
      for (const event of events) socket.on(event, done);
    });
  }

  async #nextPieces(): Promise<readonly DemuxedPiece[]> {
    try {
      const ahead = this.#ahead ?? this.#chunks.next();
      this.#ahead = undefined;
      const next = await ahead;
      if (next.done === true) throw new Error('its supervisor has ended');
      return Buffer.isBuffer(next.value) ? this.#demuxer.push(next.value) : [];
    } catch (thrown) {
      throw sandboxLost(`the channel to it failed (${errorMessage(thrown)})`, thrown);
    }
  }
}

/** Few and large pieces, since each costs a process in the sandbox; but not so large that an abort would have to wait for it. */
async function* inPieces(
  input: Iterable<Buffer> | AsyncIterable<Buffer>,
): AsyncGenerator<readonly Buffer[]> {
  let piece: Buffer[] = [];
  let room = MAX_PIECE_BYTES;
  for await (const bytes of input) {
    for (let at = 0; at < bytes.length;) {
      const taken = bytes.subarray(at, at + room);
      piece.push(taken);
      at += taken.length;
      room -= taken.length;
      if (room > 0) continue;
      yield piece;
      piece = [];
      room = MAX_PIECE_BYTES;
    }
  }
  if (piece.length > 0) yield piece;
}

function lengthOf(buffers: readonly Buffer[]): number {
  return buffers.reduce((sum, { length }) => sum + length, 0);
}

/** A request and its reply. */
export class Exchange {
  /** Ends when all was sent. */
  sending: Promise<void> = Promise.resolve();
  /** What reading the input failed with, which ended it there. */
  inputFailure: Error | undefined;
  /** Set to send no more input than what is under way. */
  stopped = false;
  readonly #next: () => Promise<readonly DemuxedPiece[]>;
  /** What has come but was not used yet; it outlives a reader that left early. */
  readonly #pending: DemuxedPiece[] = [];
  #pulling: Promise<void> | undefined;
  readonly #markers: { readonly stdout: EndMarker; readonly stderr: EndMarker };

  constructor(nonce: string, next: () => Promise<readonly DemuxedPiece[]>) {
    this.#next = next;
    this.#markers = { stdout: new EndMarker(nonce), stderr: new EndMarker(nonce) };
  }

  /** How it ended; undefined as long as one of the two streams has not. */
  get ending(): Ending | undefined {
    const { stdout, stderr } = this.#markers;
    return stderr.ending === undefined ? undefined : stdout.ending;
  }

  /** The output as it comes, until both streams have ended; the next read waits until the last piece was used. May be called
   *  again when it was left early: what comes then follows. @throws SkillmillError SANDBOX_UNAVAILABLE with `lost` */
  async *output(): AsyncGenerator<DemuxedPiece> {
    while (this.ending === undefined) {
      const piece = this.#pending.shift();
      if (piece === undefined) {
        await this.#pull();
        continue;
      }
      const bytes = this.#push(piece);
      if (bytes.length > 0) yield { stream: piece.stream, bytes };
    }
  }

  /** One at a time: a reader that was left may still wait for what the next one needs. */
  async #pull(): Promise<void> {
    this.#pulling ??= this.#next().then((pieces) => {
      this.#pending.push(...pieces);
      this.#pulling = undefined;
    });
    await this.#pulling;
  }

  #push({ stream, bytes }: DemuxedPiece): Buffer {
    try {
      return this.#markers[stream].push(bytes);
    } catch (thrown) {
      throw sandboxLost(errorMessage(thrown), thrown);
    }
  }
}
