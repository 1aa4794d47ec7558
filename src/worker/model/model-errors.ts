import { SkillmillError, errorMessage } from '../../shared/errors/skillmill-error.js';
import { overflowOf } from './context-overflow.js';
import { retryAfterMs } from '../../shared/download/retry-after.js';

/** What is known of a failed call beside what was thrown. */
export interface FailedCall {
  readonly endpoint: string;
  readonly timeoutMs: number;
  /** HTTP status, when there was an answer. */
  readonly status: number | undefined;
  readonly headers: Pick<Headers, 'get'> | undefined;
  readonly timedOut: boolean;
  /** Milliseconds without a byte after which a stream was given up. */
  readonly stalledMs: number | undefined;
  /** There was an answer, and it was no JSON. */
  readonly isUnreadable: boolean;
  /** The endpoint answered with an error object where a reply was due; its status may be unknown. */
  readonly isErrorObject: boolean;
  /** Blots out what is never to be seen in a message. */
  readonly redact: (text: string) => string;
}

/** A failed call as one of our errors. 408, 409, 429, 5xx, time-outs and lost connections may be tried again; the rest may not. */
export function asModelError(thrown: unknown, call: FailedCall): SkillmillError {
  if (thrown instanceof SkillmillError) return thrown;
  const host = new URL(call.endpoint).host;
  const said = shortened(call.redact(errorMessage(thrown)));
  const cause = { cause: thrown };
  if (call.stalledMs !== undefined) {
    return new SkillmillError(
      'MODEL_UNAVAILABLE',
      `The model endpoint ${host} stopped in the middle of its answer: nothing came for ${call.stalledMs / 1000} s (SKILLMILL_MODEL_IDLE_TIMEOUT).`,
      { details: { timedOut: true }, ...cause },
    );
  }
  if (call.timedOut) {
    return new SkillmillError(
      'MODEL_UNAVAILABLE',
      `The model endpoint ${host} did not answer within ${call.timeoutMs / 1000} s (SKILLMILL_MODEL_TIMEOUT).`,
      { details: { timedOut: true }, ...cause },
    );
  }
  if (call.isUnreadable) {
    return new SkillmillError(
      'MODEL_PROTOCOL',
      `The model endpoint ${host} answered with something that is no JSON. Check OPENAI_BASE_URL.`,
      cause,
    );
  }
  if (call.status === undefined && !call.isErrorObject) {
    return new SkillmillError(
      'MODEL_UNAVAILABLE',
      `The model endpoint ${host} could not be reached: ${said} Check OPENAI_BASE_URL.`,
      cause,
    );
  }
  return refusedCall(thrown, call, host, said);
}

function refusedCall(
  thrown: unknown,
  call: FailedCall,
  host: string,
  said: string,
): SkillmillError {
  const { status } = call;
  const overflow = overflowOf(errorMessage(thrown), status);
  if (overflow !== undefined) {
    const { limit, asked } = overflow;
    const numbers =
      limit === undefined ? '' : ` (${asked ?? 'more'} tokens, and the model takes ${limit})`;
    return new SkillmillError(
      'CONTEXT_OVERFLOW',
      `The conversation is too long for the model${numbers}. Begin a new session, ask for less at a time, or set SKILLMILL_CONTEXT_TOKENS to what the model takes. The endpoint said: ${said}`,
      { details: { status, limit, asked }, cause: thrown },
    );
  }
  const retryable = status === undefined || [408, 409, 429].includes(status) || status >= 500;
  const afterMs = call.headers === undefined ? undefined : retryAfterMs(call.headers, Date.now());
  return new SkillmillError(
    retryable ? 'MODEL_UNAVAILABLE' : 'MODEL_REJECTED',
    `The model endpoint ${host} answered ${said}${adviceFor(status)}`,
    { details: { status, ...(afterMs !== undefined && { retryAfterMs: afterMs }) }, cause: thrown },
  );
}

function adviceFor(status: number | undefined): string {
  if (status === 401 || status === 403) return '. Check OPENAI_API_KEY.';
  if (status === 404) return '. Check OPENAI_BASE_URL and OPENAI_MODEL.';
  return '.';
}

/** Cut after the secrets are out: half a key is a key's half too much. */
function shortened(text: string): string {
  return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}
