/** The SDK's public names. */
export { createClient, type Client, type ClientOptions } from './client.js';
export type { FollowOptions } from './follow-turn.js';
export type { AddedSchedule, ScheduleView, Schedules } from './schedules.js';
export type { SessionArtifacts } from './session-artifacts.js';
export type { SessionHandle, SessionView, WorkspaceFile } from './session-handle.js';
export type { CancelOutcome } from '../shared/turns/cancel-turn.js';
export type { EnqueuedTurn } from '../shared/turns/enqueue-turn.js';
export { SkillmillError, type PublicError } from '../shared/errors/skillmill-error.js';
export type { ErrorCode } from '../shared/errors/error-code.js';
export type {
  Artifact,
  ContentPart,
  FileInput,
  TurnEvent,
  TurnRequestInput as TurnRequest,
  TurnResult,
} from '../shared/contracts/index.js';
export type { CollectChoice } from '../shared/garbage/collect-here.js';
export type { GarbageReport } from '../shared/garbage/garbage-count.js';
export type { ScheduleInput } from './parse-schedule.js';
export type { UsageQuery, UsageReport } from '../shared/usage/usage-report.js';
