/** Aborts its signal when nothing has happened for a while: idle ──start()──▶ waiting ──restart()──▶ waiting … ──stop()──▶ over. */
export class IdleTimeout {
  private readonly controller = new AbortController();
  private readonly ms: number;
  private timer: NodeJS.Timeout | undefined;

  /** @param ms how long is too long, in milliseconds */
  constructor(ms: number) {
    this.ms = ms;
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  start(): void {
    const reason = new DOMException(`Nothing came for ${this.ms} ms.`, 'TimeoutError');
    this.timer ??= setTimeout(() => this.controller.abort(reason), this.ms);
  }

  /** Something happened; harmless before the start and after the end. */
  restart(): void {
    this.timer?.refresh();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
