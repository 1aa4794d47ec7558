/** Aborts its signal when nothing has happened for a while: idle ──start()──▶ waiting ──restart()──▶ waiting … ──stop()──▶ over. */
export class IdleTimeout {
  private readonly controller = new AbortController();
  private readonly ms: number;
  private timer: NodeJS.Timeout | undefined;
  private hurried = false;

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

  /** Waits less long from now on, in milliseconds; only the first call counts. */
  hurry(ms: number): void {
    if (this.hurried || this.timer === undefined) return;
    this.hurried = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.controller.abort(), Math.min(ms, this.ms));
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
