import type { Message, Session } from '../../shared/contracts/index.js';
import type { SkillConfig } from '../../shared/config/config.js';
import type { StoredFile } from '../../shared/results/stored-request.js';
import { userMessage } from '../../shared/session/turn-messages.js';
import { budgetedModel } from '../agent/budgeted-model.js';
import { createToolBelt, type ToolBelt } from '../agent/tool-belt.js';
import type { Transcript } from '../agent/agent-ports.js';
import type { LimitKeeper } from '../agent/turn-limits.js';
import type { Model } from '../model/model.js';
import { skillGuidance, skillOverview } from '../prompt/guidance.js';
import { LoadedContent } from '../prompt/loaded-content.js';
import { ShownContent } from '../prompt/shown-content.js';
import { TokenMeter } from '../prompt/token-meter.js';
import type { EventSink } from '../publish/event-sink.js';
import { createTurnArtifacts, type TurnArtifacts } from '../publish/turn-artifacts.js';
import {
  emptySkillState,
  fromStateHash,
  keepRecent,
  type SkillState,
} from '../session/skill-state.js';
import { openPinnedSkills } from '../skills/pinned-skills.js';
import { SkillPins, type SkillPinsOptions } from '../skills/skill-pins.js';
import type { TurnSkills } from '../skills/turn-skills.js';
import type { JournalReplay } from '../session/journal-replay.js';
import type { NotedBlobStore } from '../session/noted-blob-store.js';
import { pinnedBefore, type ArtifactPins } from '../session/pinned-artifacts.js';
import { SessionSummary } from '../session/session-summary.js';
import { listedBefore } from '../session/listed-tools.js';
import { TurnBudget } from '../session/turn-budget.js';
import { TurnToolbox } from '../toolbox/turn-toolbox.js';
import type { SkillStateHolder } from '../tools/tool.js';
import { skillTools } from '../tools/skill-tools.js';
import type { Workspace } from '../workspace/workspace.js';
import type { AttemptSignal } from './attempt-signal.js';
import { openWorkspace } from './open-workspace.js';
import { TurnJournal } from './turn-journal.js';
import { takeJoiningMessages } from './joining-messages.js';
import type { Lease } from '../session/lease.js';
import type { ClaimedTurn, TurnDeps } from './turn-deps.js';

/** Everything that one attempt of a turn works on. */
export interface OpenTurn {
  readonly turn: ClaimedTurn;
  readonly history: readonly Message[];
  readonly summary: SessionSummary;
  readonly transcript: Transcript;
  /** Has the loop begun? It begins once, and goes on when a message has joined the turn at its end. */
  isBegun: boolean;
  readonly skills: TurnSkills;
  readonly content: LoadedContent;
  readonly shown: ShownContent;
  readonly skillState: SkillStateHolder;
  readonly used: ReadonlyMap<string, string>;
  readonly skillPins: SkillPins;
  readonly journal: TurnJournal;
  /** What the turn stores; each blob is kept for it. */
  readonly blobs: NotedBlobStore;
  readonly artifacts: TurnArtifacts;
  readonly pins: ArtifactPins;
  readonly limits: LimitKeeper;
  readonly budget: TurnBudget;
  readonly meter: TokenMeter;
  /** The turn's model: each call is reserved in its budgets before, and counted after. */
  readonly model: Model;
  readonly events: EventSink;
  readonly workspace: Workspace;
  readonly toolbox: TurnToolbox;
  readonly belt: ToolBelt;
  /** The parts of the system message that stay the same in every request of the turn. */
  readonly guidance: string;
  readonly overview: string;
  readonly onSkillUsed: (name: string, how: 'loaded' | 'run') => void;
}

export interface OpenTurnParts {
  readonly turn: ClaimedTurn;
  readonly lease: Lease;
  readonly session: Session;
  readonly inputs: readonly StoredFile[];
  /** The skills as this worker has them now. */
  readonly skills: TurnSkills;
  /** What the attempts before have done. */
  readonly replay: JournalReplay;
  readonly limits: LimitKeeper;
  readonly events: EventSink;
  readonly attempt: Pick<AttemptSignal, 'signal' | 'keeping' | 'fail'>;
}

/** Puts an attempt's parts together. @throws SkillmillError SKILL_UNAVAILABLE, BLOB_UNAVAILABLE, REDIS_UNAVAILABLE */
export async function openTurn(deps: TurnDeps, parts: OpenTurnParts): Promise<OpenTurn> {
  const { turn, lease, session, inputs, limits, events, replay } = parts;
  const { signal } = parts.attempt;
  const config = deps.skillConfig;
  const blobs = deps.blobsOf(turn);
  const skills = await openPinnedSkills(parts.skills, replay.skills, {
    archive: deps.archive,
    blobs,
  });
  const history = historyOf(parts);
  const initial = initialState(config, session, skills);
  const skillState = stateHolder(initial, config.maxLoaded);
  const { toolbox, belt, shown } = listingOf(deps, parts, { skills, skillState, initial, history });
  const overview =
    replay.opened?.overview ?? (await skillOverview(skills.skills, config.overviewTokens));
  const artifacts = createTurnArtifacts(
    session.artifacts,
    (artifact) => journal.say({ type: 'artifact.saved', artifact }),
    (name) => deps.redact.text(name),
  );
  const pins = pinnedBefore(session.skillState);
  const skillPins = skillPinsOf(deps, turn, { skills, blobs, signal });
  const workspace = openWorkspace(deps, parts, {
    skills,
    blobs,
    onSaved: (version) => journal.saved(version),
  });
  const { budget, meter, model } = budgetOf(deps, parts);
  const journal = new TurnJournal({
    ...{ turn, overview, replay, sink: events, blobs, workspace },
    ...{ skillState, artifacts, pins, skillPins, budget, signal },
    joining: () => takeJoiningMessages(deps, lease, turn),
  });
  return {
    ...{ turn, history, skills, shown, skillState, limits, budget, meter, model, events, blobs },
    ...{ toolbox, belt, overview, artifacts, pins, skillPins, workspace, journal },
    summary: new SessionSummary(history),
    isBegun: false,
    transcript: {
      messages: [userMessage(turn.turnId, turn.request.input, inputs)],
      toolCalls: [],
      asked: new Set(),
      modelMs: 0,
      toolMs: 0,
    },
    content: new LoadedContent(skills, config, (name) => toolbox.definitionOf(name)),
    guidance: skillGuidance(belt.skillTools),
    used: skillPins.used,
    onSkillUsed(name, how) {
      const digest = skillPins.pin(name, 'used');
      if (how === 'loaded') journal.say({ type: 'skill.loaded', name, digest });
    },
  };
}

/** The session's messages. What a turn left that failed stands in them, and is not told twice to the one that goes on from its journal. */
function historyOf({ turn, session, replay }: OpenTurnParts): readonly Message[] {
  const from = replay.opened?.turnId;
  return from === undefined || from === turn.turnId
    ? session.messages
    : session.messages.filter(({ turnId }) => turnId !== from);
}

interface ListingParts extends Pick<OpenTurn, 'skills' | 'skillState' | 'history'> {
  readonly initial: SkillState;
}

/** What the model may call, and which text stands where. */
function listingOf(
  deps: TurnDeps,
  { turn, session }: OpenTurnParts,
  { skills, skillState, initial, history }: ListingParts,
): Pick<OpenTurn, 'toolbox' | 'belt' | 'shown'> {
  const config = deps.skillConfig;
  const toolbox = new TurnToolbox({
    toolbox: deps.toolbox.current(),
    allowed: turn.request.allowedTools,
    exposure: config.exposure,
    skills,
    state: () => skillState.get(),
    listedBefore: listedBefore(session.skillState),
  });
  const belt = createToolBelt({
    skillTools: skillTools(config.profile, config.run),
    toolbox,
    turn,
  });
  const shown = new ShownContent({
    turnId: turn.turnId,
    mode: config.mode,
    placement: config.content,
    skills,
    initial,
    history,
    schemasFor: (skill, selection) => toolbox.schemasFor(skill, selection),
  });
  return { toolbox, belt, shown };
}

/** What is loaded when a turn begins: in mode `session` what the one before left, of what can be seen now. */
function initialState(config: SkillConfig, session: Session, skills: TurnSkills): SkillState {
  if (config.mode !== 'session') return emptySkillState;
  const loaded = fromStateHash(session.skillState);
  return keepRecent(
    loaded.filter(({ name }) => skills.get(name) !== undefined),
    config.maxLoaded,
  );
}

function stateHolder(initial: SkillState, maxLoaded: number): SkillStateHolder {
  let state = initial;
  return { get: () => state, set: (next) => void (state = keepRecent(next, maxLoaded)) };
}

function skillPinsOf(
  deps: TurnDeps,
  turn: ClaimedTurn,
  parts: Pick<SkillPinsOptions, 'skills' | 'blobs' | 'signal'>,
): SkillPins {
  return new SkillPins({
    ...parts,
    tenant: turn.tenant,
    archive: deps.archive,
    onFault: (skill, error) =>
      deps.logger.log('warn', 'a skill could not be kept for another worker', {
        turnId: turn.turnId,
        skill,
        reason: error.message,
      }),
  });
}

function budgetOf(
  { ledger, model }: TurnDeps,
  { turn, attempt }: OpenTurnParts,
): Pick<OpenTurn, 'budget' | 'meter' | 'model'> {
  const budget = new TurnBudget(ledger, { ...turn, ...turn.request }, attempt.signal);
  const meter = new TokenMeter();
  return { budget, meter, model: budgetedModel(model, budget, meter) };
}
