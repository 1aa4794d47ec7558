/** The outcome of a promise, or a rejection when it takes longer than the given milliseconds; the work itself goes on. @throws Error naming what took too long */
export async function withDeadline<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  const done = await within(
    work.then((value) => ({ value })),
    ms,
  );
  if (done === undefined) throw new Error(`${what} took longer than ${ms} ms`);
  return done.value;
}

/** The outcome of a promise, or undefined when it takes longer than the given milliseconds; leaves no timer behind. */
export async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let handle: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    handle = setTimeout(() => resolve(undefined), Math.max(0, ms));
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(handle);
  }
}
