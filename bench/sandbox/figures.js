/** Milliseconds by row, and how they are shown. */
export class Figures {
  /** @type {Map<string, number[]>} */
  #rows = new Map();

  /** @template T @param {string} row @param {() => Promise<T>} work @returns {Promise<T>} */
  async timed(row, work) {
    const startedAt = performance.now();
    const result = await work();
    this.note(row, performance.now() - startedAt);
    return result;
  }

  /** @param {string} row @param {number} ms */
  note(row, ms) {
    const all = this.#rows.get(row) ?? [];
    all.push(ms);
    this.#rows.set(row, all);
  }

  /** @param {string} row @param {number} share */
  percentile(row, share) {
    const sorted = [...(this.#rows.get(row) ?? [])].sort((a, b) => a - b);
    return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
  }

  /** Prints all rows; each is also shown as a part of the p50 of `base`. @param {string} base */
  print(base) {
    const whole = this.percentile(base, 0.5);
    line(['ms', 'p50', 'p95', 'p99', 'max', `p50 / ${base}`, 'n']);
    for (const [row, all] of this.#rows) {
      const values = [0.5, 0.95, 0.99, 1].map((share) => this.percentile(row, share));
      const part = (values[0] ?? 0) / whole;
      line([row, ...values.map((ms) => ms.toFixed(1)), part.toFixed(3), String(all.length)]);
    }
  }
}

/** @param {string[]} cells */
export function line([name = '', ...cells]) {
  console.log(`${name.padEnd(44)}${cells.map((cell) => cell.padStart(17)).join('')}`);
}
