import { SkillmillError, errorMessage } from '../../shared/errors/skillmill-error.js';

/** What is known of a failed call beside what was thrown. */
export interface FailedCall {
  readonly endpoint: string;
  readonly timeoutMs: number;
  /** HTTP status, when there was an answer. */
  readonly status: number | undefined;
  readonly timedOut: boolean;
  /** There was an answer, and it was no JSON. */
  readonly isUnreadable: boolean;
  /** Never to be seen in a message. */
  readonly secret: string | undefined;
}

/** A failed call as one of our errors. 408, 409, 429, 5xx, time-outs and lost connections may be tried again; the rest may not. */
export function asModelError(thrown: unknown, call: FailedCall): SkillmillError {
  if (thrown instanceof SkillmillError) return thrown;
  const host = new URL(call.endpoint).host;
  const said = withoutSecret(errorMessage(thrown), call.secret);
  if (call.timedOut) {
    return new SkillmillError(
      'MODEL_UNAVAILABLE',
      `The model endpoint ${host} did not answer within ${call.timeoutMs / 1000} s (SKILLMILL_MODEL_TIMEOUT).`,
      { cause: thrown },
    );
  }
  if (call.isUnreadable) {
    return new SkillmillError(
      'MODEL_PROTOCOL',
      `The model endpoint ${host} answered with something that is no JSON. Check OPENAI_BASE_URL.`,
      { cause: thrown },
    );
  }
  if (call.status === undefined) {
    return new SkillmillError(
      'MODEL_UNAVAILABLE',
      `The model endpoint ${host} could not be reached: ${said} Check OPENAI_BASE_URL.`,
      { cause: thrown },
    );
  }
  const retryable = [408, 409, 429].includes(call.status) || call.status >= 500;
  return new SkillmillError(
    retryable ? 'MODEL_UNAVAILABLE' : 'MODEL_REJECTED',
    `The model endpoint ${host} answered ${said}${adviceFor(call.status)}`,
    { details: { status: call.status }, cause: thrown },
  );
}

function adviceFor(status: number): string {
  if (status === 401 || status === 403) return '. Check OPENAI_API_KEY.';
  if (status === 404) return '. Check OPENAI_BASE_URL and OPENAI_MODEL.';
  return '.';
}

function withoutSecret(text: string, secret: string | undefined): string {
  // First the secret, then the cut: half a key is a key's half too much.
  const safe = secret === undefined || secret === '' ? text : text.replaceAll(secret, '***');
  return safe.length > 500 ? `${safe.slice(0, 500)}…` : safe;
}
