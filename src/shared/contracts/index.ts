/**
 * The dictionary. These words mean this, everywhere in the code, and have no synonyms:
 *
 *   turn        one user message for a session and all that follows until the final answer; one job
 *   session     the conversation a turn belongs to: messages, skill state, artifacts
 *   line        a session's turns that have no result yet, oldest first; its head is the one that may run
 *   lease       the right of one worker to advance one session, with an expiry and a fencing token
 *   journal     the ordered, durable record of a running turn: model replies and tool results
 *   skill       a folder with SKILL.md: front matter, body, docs, scripts, an optional `Tools:` list
 *   skill root  where skills come from
 *   workspace   a turn's files: skills/ work/ out/ runs/ metadata.json
 *   executor    what runs commands on a workspace: `docker` or `local`
 *   sandbox     one live container (or local directory) serving one job
 *   stage       to put a skill or an input into a workspace
 *   blob        bytes kept under their SHA-256
 *   artifact    a named, versioned file kept after the turn: artifact://name@version
 *   turn event  one entry of a turn's published stream
 */
export { artifactSchema, formatArtifactRef, parseArtifactRef, type Artifact } from './artifact.js';
export {
  defaultTenant,
  makeSessionId,
  makeTurnId,
  sessionIdOfKey,
  sessionIdSchema,
  sessionTag,
  tagOfTurn,
  tenantSchema,
  turnIdSchema,
  type SessionId,
  type Tenant,
  type TurnId,
} from './ids.js';
export {
  contractJsonSchema,
  contractNames,
  isContractName,
  type ContractName,
} from './json-schema.js';
export {
  messageSchema,
  type AssistantMessage,
  type Message,
  type Session,
  type ShownSkill,
  type ToolCall,
  type ToolMessage,
} from './session.js';
export {
  isFinalEvent,
  turnEventBodySchema,
  turnEventSchema,
  type FinalEvent,
  type TurnEvent,
  type TurnEventBody,
} from './turn-event.js';
export {
  contentPartSchema,
  fileInputSchema,
  isPlainRelativePath,
  priorities,
  turnLimitsSchema,
  turnRequestSchema,
  responseFormatSchema,
  type ContentPart,
  type FileInput,
  type ResponseFormat,
  type SkillLoad,
  type TurnLimits,
  type TurnRequest,
  type TurnRequestInput,
} from './turn-request.js';
export {
  publicErrorSchema,
  turnResultSchema,
  turnStatusSchema,
  type Timings,
  type ToolCallRecord,
  type TurnResult,
  type TurnStatus,
  type Usage,
} from './turn-result.js';
export { sha256Schema, workspaceVersionSchema, type WorkspaceVersion } from './workspace.js';
