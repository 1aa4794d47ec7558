/** How each error code is to be treated: the one policy table (DESIGN §3.4). */
export interface ErrorPolicy {
  /** May the same turn succeed when it is tried again unchanged? */
  readonly retryable: boolean;
  /** The CLI's exit code when this error ends a command: 1 turn failed, 2 usage, 3 unreachable, 130 cancelled. */
  readonly exitCode: 1 | 2 | 3 | 130;
  /** Does it fail the attempt, so that the turn is tried again, rather than the turn or one tool call? */
  readonly failsAttempt: boolean;
}

const turnFault = { retryable: false, exitCode: 1, failsAttempt: false } as const;
const usage = { retryable: false, exitCode: 2, failsAttempt: false } as const;
const unreachable = { retryable: true, exitCode: 3, failsAttempt: true } as const;
const passing = { retryable: true, exitCode: 1, failsAttempt: false } as const;

/** Every code that may leave the product, with its policy. A code is never renamed or removed. */
export const errorPolicies = {
  // the caller's or operator's mistake
  INPUT_INVALID: usage,
  CONFIG_INVALID: usage,
  TURN_NOT_FOUND: usage,
  SESSION_NOT_FOUND: usage,
  ARTIFACT_NOT_FOUND: usage,
  SESSION_BUSY: passing,
  TURN_NOT_FINISHED: turnFault,
  // a service that the product needs
  REDIS_UNAVAILABLE: unreachable,
  SANDBOX_UNAVAILABLE: unreachable,
  BLOB_UNAVAILABLE: unreachable,
  // another worker may see the store that has it
  BLOB_NOT_FOUND: unreachable,
  BLOB_CORRUPT: turnFault,
  // what ends a turn
  // it was tried three times already; whether it may pass is for its reason to say
  DOWNLOAD_FAILED: passing,
  SKILL_NOT_FOUND: turnFault,
  SKILL_INVALID: turnFault,
  SKILL_UNAVAILABLE: turnFault,
  LIMIT_EXCEEDED: turnFault,
  MODEL_UNAVAILABLE: passing,
  MODEL_REJECTED: turnFault,
  MODEL_PROTOCOL: turnFault,
  CONTEXT_OVERFLOW: turnFault,
  CONTENT_FILTERED: turnFault,
  LOOP_DETECTED: turnFault,
  OUTPUT_INVALID: turnFault,
  WORKER_LOST: passing,
  LEASE_LOST: passing,
  HANDED_OVER: passing,
  CANCELLED: { retryable: false, exitCode: 130, failsAttempt: false },
  // what a tool answers to the model
  COMMAND_TIMEOUT: turnFault,
  TOOL_NOT_FOUND: turnFault,
  TOOL_NOT_ACTIVE: turnFault,
  TOOL_INPUT_INVALID: turnFault,
  SKILL_NOT_LOADED: turnFault,
  TOOL_FAILED: turnFault,
  INTERNAL: { retryable: true, exitCode: 1, failsAttempt: true },
} as const satisfies Record<string, ErrorPolicy>;

export type ErrorCode = keyof typeof errorPolicies;
