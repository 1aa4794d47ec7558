import { errorMessage } from '../../../shared/errors/skillmill-error.js';
import type { ExecutorLog } from '../executor-log.js';
import type { LiveContainer } from './live-container.js';

/** The job that takes a container runs its first command before the next one is made: both would want the processor. */
const REFILL_DELAY_MS = 100;
const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 60_000;

/** How a pool is kept. */
export interface PoolOptions {
  /** How many containers wait at most. */
  readonly size: number;
  /** How many are made at a time. */
  readonly refill: number;
  /** One that has waited longer is removed, and another one made. */
  readonly maxAgeMs: number;
}

/** What the pool's owner does for it. */
export interface PoolTies {
  readonly make: () => Promise<LiveContainer>;
  /** Removes one that nobody took; never rejects. */
  readonly discard: (container: LiveContainer) => Promise<void>;
  readonly log: ExecutorLog;
}

/** Containers that were made ahead, each for one job. Modes: idle (nothing is made before `fill`) → filling, again whenever one is
 *  taken, dies or grows too old; after a failure it waits, longer each time → closed. */
export class WarmPool {
  readonly #options: PoolOptions;
  readonly #ties: PoolTies;
  readonly #ready = new Map<LiveContainer, NodeJS.Timeout>();
  readonly #making = new Set<Promise<void>>();
  #mode: 'idle' | 'filling' | 'closed' = 'idle';
  #timer: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;

  constructor(options: PoolOptions, ties: PoolTies) {
    this.#options = options;
    this.#ties = ties;
  }

  /** Begins to keep the pool full. */
  fill(): void {
    if (this.#mode === 'closed') return;
    this.#mode = 'filling';
    const { size, refill } = this.#options;
    while (this.#making.size < refill && this.#ready.size + this.#making.size < size) {
      const making = this.#makeOne().finally(() => this.#making.delete(making));
      this.#making.add(making);
    }
  }

  /** Hands over the one that has waited longest, if there is one; it is the caller's from then on. */
  take(): LiveContainer | undefined {
    const [first] = this.#ready.keys();
    if (first !== undefined) this.#forget(first);
    if (this.#mode === 'filling') this.#fillIn(REFILL_DELAY_MS);
    return first;
  }

  /** Removes all that nobody took, and what is being made once it is; idempotent. */
  async close(): Promise<void> {
    this.#mode = 'closed';
    clearTimeout(this.#timer);
    const waiting = [...this.#ready.keys()];
    for (const container of waiting) this.#forget(container);
    await Promise.all([...waiting.map(this.#ties.discard), ...this.#making]);
  }

  async #makeOne(): Promise<void> {
    try {
      const container = await this.#ties.make();
      if (this.#mode === 'closed') {
        await this.#ties.discard(container);
        return;
      }
      this.#retryMs = FIRST_RETRY_MS;
      this.#keep(container);
      this.#fillIn(0);
    } catch (thrown) {
      this.#ties.log('warn', 'a sandbox could not be made ahead', { reason: errorMessage(thrown) });
      this.#fillIn(this.#retryMs);
      this.#retryMs = Math.min(2 * this.#retryMs, LAST_RETRY_MS);
    }
  }

  #keep(container: LiveContainer): void {
    const replace = () => {
      if (!this.#ready.has(container)) return;
      this.#forget(container);
      void this.#ties.discard(container);
      this.#fillIn(0);
    };
    this.#ready.set(container, setTimeout(replace, this.#options.maxAgeMs).unref());
    void container.channel.hasEnded().then((ended) => {
      if (ended) replace();
    });
  }

  #forget(container: LiveContainer): void {
    clearTimeout(this.#ready.get(container));
    this.#ready.delete(container);
  }

  #fillIn(ms: number): void {
    if (this.#mode !== 'filling') return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.fill(), ms).unref();
  }
}
