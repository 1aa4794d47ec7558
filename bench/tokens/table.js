/** How figures are printed. */

/** @typedef {import('./figures.js').Figures} Figures */
/** @typedef {import('./measure.js').Measured} Measured */

/** Negative: a loss. @param {number} now @param {number} before */
export function saved(now, before) {
  return `${(100 * (1 - now / before)).toFixed(0)} %`;
}

/** @param {Figures} figures */
export function cached({ shared, input }) {
  return `${count(shared)} (${((100 * shared) / input).toFixed(0)} %)`;
}

/** @param {number} tokens */
export function count(tokens) {
  return Math.round(tokens).toLocaleString('en');
}

/** A title, and the sizes that head the columns. @param {string} text @param {readonly Measured[]} turns */
export function printSizes(text, turns) {
  title(text);
  printRow(
    'tools, of them needed',
    turns,
    ({ scenario: { size, needed } }) => `${size}, ${needed}`,
  );
}

/** A cell of each turn. @param {string} label @param {readonly Measured[]} turns @param {(turn: Measured) => string | number} cell */
export function printRow(label, turns, cell) {
  print(label, turns.map(cell));
}

/** @param {string} text */
export function title(text) {
  process.stdout.write(`\n${text}\n`);
}

/** @param {string} text */
export function say(text) {
  process.stdout.write(`  ${text}\n`);
}

/** @param {string} label @param {readonly (string | number)[]} cells */
export function print(label, cells) {
  const texts = cells.map((cell) => (typeof cell === 'number' ? count(cell) : cell));
  say(`${label.padEnd(46)}${texts.map((text) => text.padStart(16)).join('')}`);
}
