import { errorPolicies, type ErrorCode } from './error-code.js';

/** Plain data beside an error: what a program may act on. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/** What of an error may leave the product: never a stack trace. */
export interface PublicError {
  code: ErrorCode;
  message: string;
  retryable: boolean;
  details?: ErrorDetails | undefined;
}

/** The one error class: a stable code, a sentence that says what is wrong and what to do, plain details. */
export class SkillmillError extends Error {
  override readonly name = 'SkillmillError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;
  /** May the same be tried again unchanged? As the code says, unless it covers faults of both kinds. */
  readonly retryable: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    options?: { details?: ErrorDetails; cause?: unknown; retryable?: boolean },
  ) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options?.details;
    this.retryable = options?.retryable ?? errorPolicies[code].retryable;
  }

  get failsAttempt(): boolean {
    return errorPolicies[this.code].failsAttempt;
  }

  get exitCode(): number {
    return errorPolicies[this.code].exitCode;
  }

  /** The form that is stored, published and printed. */
  toPublic(): PublicError {
    const shape = { code: this.code, message: this.message, retryable: this.retryable };
    return this.details === undefined ? shape : { ...shape, details: this.details };
  }

  /** Whatever was thrown, as one of ours; what we do not know becomes INTERNAL with the original as its cause. */
  static from(thrown: unknown): SkillmillError {
    if (thrown instanceof SkillmillError) return thrown;
    const message = errorMessage(thrown);
    return new SkillmillError('INTERNAL', `Something went wrong inside skillmill: ${message}`, {
      cause: thrown,
    });
  }
}

/** The message of whatever was thrown; never empty. */
export function errorMessage(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.message === '') {
    return thrown.errors.map(errorMessage).join('; ');
  }
  if (thrown instanceof Error) return thrown.message === '' ? thrown.name : thrown.message;
  // An error of another context (node:vm) is no Error of ours.
  const said: unknown =
    typeof thrown === 'object' && thrown !== null && 'message' in thrown ? thrown.message : thrown;
  return typeof said === 'string' && said !== '' ? said : 'unknown error';
}
