import { errorMessage, SkillmillError } from '../../shared/errors/skillmill-error.js';

/** The error for a sandbox that can no longer be used; `details.lost` tells the caller to open another. */
export function sandboxLost(why: string, cause?: unknown): SkillmillError {
  return new SkillmillError('SANDBOX_UNAVAILABLE', `The sandbox was lost: ${why}`, {
    details: { lost: true },
    cause,
  });
}

/** Is this an error that says the sandbox is gone for good? */
export function isSandboxLost(thrown: unknown): boolean {
  return (
    thrown instanceof SkillmillError &&
    thrown.code === 'SANDBOX_UNAVAILABLE' &&
    thrown.details?.['lost'] === true
  );
}

/** The error for a step towards a sandbox that failed. */
export function sandboxUnavailable(step: string, cause: unknown): SkillmillError {
  return new SkillmillError('SANDBOX_UNAVAILABLE', `${step}: ${errorMessage(cause).trim()}`, {
    cause,
  });
}
