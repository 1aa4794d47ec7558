/** Runs every step in this order, whatever becomes of the others. @throws what a step threw; an AggregateError when several did */
export async function releaseAll(steps: readonly (() => unknown)[]): Promise<void> {
  const faults: unknown[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 1) throw new AggregateError(faults);
  if (faults.length > 0) throw faults[0];
}
