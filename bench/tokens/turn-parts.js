/** What a turn is run with: the worker's own parts where a request depends on them, stand-ins for Redis and sandboxes. */
import { loadConfig } from '../../dist/shared/config/load-config.js';
import { defaultTenant, makeTurnId, sessionIdSchema } from '../../dist/shared/contracts/index.js';
import { createLogger } from '../../dist/shared/logging/logger.js';
import { createRedactor } from '../../dist/shared/logging/redactor.js';
import { LimitKeeper } from '../../dist/worker/agent/turn-limits.js';
import { JournalReplay } from '../../dist/worker/session/journal-replay.js';
import { SkillArchive } from '../../dist/worker/skills/skill-archive.js';
import { openToolbox } from '../../dist/worker/toolbox/toolbox.js';
import { toolboxOf } from './toolbox.js';

/** @typedef {import('../../dist/shared/contracts/index.js').Session} Session */
/** @typedef {import('../../dist/worker/skills/turn-skills.js').TurnSkills} TurnSkills */
/** @typedef {import('../../dist/worker/turn/turn-deps.js').TurnDeps} TurnDeps */
/** @typedef {import('./session.js').SessionPlan} SessionPlan */

const logger = createLogger('silent');
const redact = createRedactor([]);
const sessionId = sessionIdSchema.parse('bench');

/** @type {any} Redis, queue, sandboxes: a turn without files and commands touches none of them. */
const untouched = new Proxy({}, { get: (_, name) => fail(`${String(name)} is not there`) });
const stored = { sha256: '0'.repeat(64), sizeBytes: 0 };
/** What is stored (packs of skills) is not asked for again. @type {ReturnType<TurnDeps['blobsOf']>} */
const blobs = {
  put: () => Promise.resolve(stored),
  open: () => fail('nothing is stored'),
  note: () => Promise.resolve(),
};

const events = {
  ...{ emit: ignore, output: ignore, delta: ignore, discard: ignore, waiting: 0 },
  hasProgress: false,
  append: () => Promise.resolve(),
  flush: () => Promise.resolve(),
};

/** No budget limits a turn, and no call has a price. @type {TurnDeps['ledger']} */
const ledger = {
  isLimited: () => false,
  reserve: () =>
    Promise.resolve({
      maxOutputTokens: undefined,
      settle: () => Promise.resolve(undefined),
      release: () => Promise.resolve(),
    }),
  countSkills: () => Promise.resolve(),
};

/** @param {number} size */
export function openBenchToolbox(size) {
  return openToolbox(toolboxOf(size), { log: ignore, redact, lookUp: () => undefined });
}

/** @param {TurnDeps} deps @param {Session} session @param {TurnSkills} skills */
export function partsOf(deps, session, skills) {
  const request = { input: 'Bring what we have on the north up to date.', files: [] };
  const turnId = makeTurnId(defaultTenant, sessionId);
  const times = { acceptedAt: 0, startedAt: 0, elapsedMs: 0 };
  const attempts = { attempt: 1, fruitless: 1, throttled: 0, retryOf: undefined };
  return {
    turn: { tenant: defaultTenant, sessionId, turnId, request, ...attempts, ...times },
    session,
    inputs: [],
    skills,
    replay: new JournalReplay(turnId, []),
    lease: untouched,
    limits: new LimitKeeper({ maxModelCalls: 100 }, deps.defaultLimits),
    events,
    attempt: unending(),
  };
}

/** An attempt that nothing ends early. @returns {import('../../dist/worker/turn/attempt-signal.js').AttemptSignal} */
export function unending() {
  const { signal } = new AbortController();
  return { signal, keeping: signal, fail: ignore, endSoon: ignore, dispose: ignore };
}

/** @param {SessionPlan} plan @param {TurnDeps['toolbox']} toolbox @param {TurnDeps['model']} model @returns {TurnDeps} */
export function depsOf(plan, toolbox, model) {
  const config = configOf(plan);
  return {
    workerId: 'bench',
    redis: untouched,
    queue: untouched,
    blobsOf: () => blobs,
    executor: untouched,
    packs: untouched,
    archive: new SkillArchive(),
    snapshotLimits: config.worker.snapshots,
    model,
    modelConfig: { ...config.model, models: ['bench'] },
    defaultLimits: config.worker.limits,
    skillConfig: config.skills,
    inputConfig: config.inputs,
    toolbox,
    ledger,
    waitReplicas: 0,
    maxAttempts: 3,
    maxWaits: 10,
    resultTtlSeconds: 0,
    sessionTtlSeconds: 0,
    openSkills: untouched,
    redact,
    handOver: { atNextStep: unending().signal, atOnce: unending().signal },
    logger,
  };
}

/** The defaults of what a request is made of, whatever the environment says. @param {SessionPlan} plan */
function configOf({ way, mode }) {
  return loadConfig({
    SKILLMILL_CONTEXT_TOKENS: '0',
    SKILLMILL_SKILL_MODE: mode,
    SKILLMILL_SKILL_CONTENT: 'tool',
    SKILLMILL_SKILL_PROFILE: 'full',
    SKILLMILL_MAX_LOADED_SKILLS: '0',
    SKILLMILL_OVERVIEW_TOKENS: '16000',
    SKILLMILL_SKILL_BODY_TOKENS: '20000',
    SKILLMILL_TOOL_EXPOSURE: way === 'dispatch' ? 'dispatch' : 'native',
  });
}

function ignore() {
  // nobody listens
}

/** @param {string} message @returns {never} */
function fail(message) {
  throw new Error(message);
}
