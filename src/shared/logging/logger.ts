import { pino, type Logger as PinoLogger } from 'pino';
import type { Redactor } from './redactor.js';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, unknown>>;

/** What the rest of the code knows of logging: a sentence, fields, and a child bound to more fields. */
export interface Logger {
  log(level: LogLevel, message: string, fields?: LogFields): void;
  child(fields: LogFields): Logger;
}

/** A logger of JSON lines on stderr. Keys and user text are never fields; known secrets and what looks like one are redacted all the same. */
export function createLogger(
  level: LogLevel | 'silent',
  bound: LogFields = {},
  redact?: Pick<Redactor, 'text'>,
): Logger {
  const sink = pino(
    {
      level,
      base: bound,
      formatters: { level: (label) => ({ level: label }) },
      ...(redact !== undefined && { hooks: { streamWrite: (line) => redact.text(line) } }),
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: ['apiKey', 'authorization', 'password', '*.apiKey', '*.authorization', '*.password'],
    },
    pino.destination({ dest: 2, sync: true }),
  );
  return wrap(sink);
}

function wrap(sink: PinoLogger): Logger {
  return {
    log: (level, message, fields = {}) => sink[level](fields, message),
    child: (fields) => wrap(sink.child(fields)),
  };
}
