/** Where an executor says what its caller need not act on; the worker hands its logger in. */
export type ExecutorLog = (
  level: 'debug' | 'info' | 'warn',
  message: string,
  fields: Readonly<Record<string, unknown>>,
) => void;
