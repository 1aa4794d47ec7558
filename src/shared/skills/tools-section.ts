/**
 * The names under the `Tools:` line of a skill's body, first come, without doubles (DESIGN §4.1): `- name` items and `#`
 * comments; blank lines may stand before the first item; after it a blank line, a heading of two or more `#`, or any
 * other line ends the list. A `Tools:` line inside a code fence is an example, not a list.
 */
export function readToolsSection(body: string): readonly string[] {
  if (!/^[ \t]*tools:[ \t]*$/im.test(body)) return [];
  const lines = body.split('\n');
  let fence: string | undefined;
  for (const [at, line] of lines.entries()) {
    fence = fenceAfter(line, fence);
    if (fence !== undefined || line.trim().toLowerCase() !== 'tools:') continue;
    const names = itemsFrom(lines, at + 1);
    if (names.length > 0) return names;
  }
  return [];
}

function itemsFrom(lines: readonly string[], start: number): string[] {
  const names = new Set<string>();
  for (let at = start; at < lines.length; at++) {
    const line = (lines[at] ?? '').trim();
    if (line === '') {
      if (names.size > 0) break;
      continue;
    }
    if (line.startsWith('##')) break;
    if (line.startsWith('#')) continue;
    const name = itemName(line);
    if (name === undefined) break;
    names.add(name);
  }
  return [...names];
}

/** The name of a `- name` line, without backticks and without the text after it. */
function itemName(line: string): string | undefined {
  if (!/^-[ \t]/.test(line)) return undefined;
  const text = line
    .slice(1)
    .trim()
    .replace(/^`+[ \t]*/, '');
  return /^[\p{L}\p{N}_](?:[\p{L}\p{N}_.:/-]*[\p{L}\p{N}_])?/u.exec(text)?.[0];
}

/** The code fence that is open after this line, if any. */
function fenceAfter(line: string, open: string | undefined): string | undefined {
  const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
  if (mark === undefined) return open;
  if (open === undefined) return mark;
  const closes = mark[0] === open[0] && mark.length >= open.length && line.trim() === mark;
  return closes ? undefined : open;
}
