const maxNames = 3;
const maxLength = 64;

/** A name that may be meant, also known by the name of its folder. */
export interface KnownName {
  readonly name: string;
  readonly folderName: string;
}

/** The names most likely meant by an unknown one, best first, at most three: the skill in the folder so named (CASES 7), the same but for case and signs, then those a few letters away. */
export function nearestNames(asked: string, known: readonly KnownName[]): readonly string[] {
  const folded = fold(asked);
  const ranked: { name: string; distance: number }[] = [];
  for (const { name, folderName } of known) {
    if (folderName === asked) ranked.push({ name, distance: -2 });
    else if (fold(name) === folded || fold(folderName) === folded)
      ranked.push({ name, distance: -1 });
    else if (asked.length <= maxLength) {
      const allowed = Math.min(3, Math.floor(asked.length / 3));
      const distance = editDistance(folded, fold(name), allowed);
      if (distance <= allowed) ranked.push({ name, distance });
    }
  }
  ranked.sort((a, b) => a.distance - b.distance);
  return [...new Set(ranked.map(({ name }) => name))].slice(0, maxNames);
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, '-');
}

/** Letters to add, drop or change; more than `limit` when it is more than that. */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    if (Math.min(...next) > limit) return limit + 1;
    row = next;
  }
  return row[b.length] ?? limit + 1;
}
