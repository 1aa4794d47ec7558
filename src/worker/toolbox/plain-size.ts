/** Deeper JSON is not read by everything that it goes through. */
const maxDepth = 100;

/** The bytes of a value as JSON, or undefined for what JSON cannot hold and what is nested too deeply. */
export function plainSize(value: unknown): number | undefined {
  if (isDeeper(value, maxDepth)) return undefined;
  try {
    return Buffer.byteLength(JSON.stringify(value));
  } catch {
    return undefined;
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}
