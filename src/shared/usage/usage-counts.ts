/** What is counted of model calls. */
export interface UsageCounts {
  readonly modelCalls: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly microUsd: number;
  /** Calls of models that have no price; they are not in `microUsd`. */
  readonly unpricedCalls: number;
  /** Calls whose tokens a tokenizer counted. */
  readonly estimatedCalls: number;
}

export const noUsage: UsageCounts = unpackCounts('');

/** The numbers as the scripts take them. Their order is what Redis holds: a new one goes to the end. */
export function packCounts(counts: UsageCounts): number[] {
  return [
    counts.modelCalls,
    counts.inputTokens,
    counts.cachedInputTokens,
    counts.outputTokens,
    counts.microUsd,
    counts.unpricedCalls,
    counts.estimatedCalls,
  ];
}

/** What Redis holds of one name. */
export function unpackCounts(text: string): UsageCounts {
  return countsOf(text.split(' ').map(Number));
}

/** The sum of two. */
export function addUsage(a: UsageCounts, b: UsageCounts): UsageCounts {
  const right = packCounts(b);
  return countsOf(packCounts(a).map((count, index) => count + (right[index] ?? 0)));
}

function countsOf(numbers: readonly number[]): UsageCounts {
  const [calls = 0, input = 0, cached = 0, output = 0, microUsd = 0, unpriced = 0, estimated = 0] =
    numbers;
  return {
    modelCalls: calls,
    inputTokens: input,
    cachedInputTokens: cached,
    outputTokens: output,
    microUsd,
    unpricedCalls: unpriced,
    estimatedCalls: estimated,
  };
}
