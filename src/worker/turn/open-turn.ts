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
import type { TurnSkills } from '../skills/turn-skills.js';
import { pinnedBefore, type ArtifactPins } from '../session/pinned-artifacts.js';
import { SessionSummary } from '../session/session-summary.js';
import { listedBefore } from '../session/listed-tools.js';
import { TurnBudget } from '../session/turn-budget.js';
import { TurnToolbox } from '../toolbox/turn-toolbox.js';
import type { SkillStateHolder } from '../tools/tool.js';
import { skillTools } from '../tools/skill-tools.js';
import { SessionFiles } from '../workspace/snapshot/session-files.js';
import { Workspace } from '../workspace/workspace.js';
import type { ClaimedTurn, TurnDeps } from './turn-deps.js';

/** Everything that one attempt of a turn works on. */
export interface OpenTurn {
  readonly turn: ClaimedTurn;
  readonly history: readonly Message[];
  readonly summary: SessionSummary;
  readonly transcript: Transcript;
  readonly skills: TurnSkills;
  readonly content: LoadedContent;
  readonly shown: ShownContent;
  readonly skillState: SkillStateHolder;
  readonly used: Map<string, string>;
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
  readonly session: Session;
  readonly inputs: readonly StoredFile[];
  readonly skills: TurnSkills;
  readonly limits: LimitKeeper;
  readonly events: EventSink;
  readonly signal: AbortSignal;
}

/** Puts an attempt's parts together. */
export async function openTurn(deps: TurnDeps, parts: OpenTurnParts): Promise<OpenTurn> {
  const { turn, session, inputs, skills, limits, events } = parts;
  const config = deps.skillConfig;
  const initial = initialState(config, session, skills);
  const skillState = stateHolder(initial, config.maxLoaded);
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
    history: session.messages,
    schemasFor: (skill, selection) => toolbox.schemasFor(skill, selection),
  });
  return {
    turn,
    history: session.messages,
    summary: new SessionSummary(session.messages),
    transcript: {
      messages: [userMessage(turn.turnId, turn.request.input, inputs)],
      toolCalls: [],
      asked: new Set(),
      modelMs: 0,
      toolMs: 0,
    },
    skills,
    content: new LoadedContent(skills, config, (name) => toolbox.definitionOf(name)),
    shown,
    skillState,
    limits,
    ...budgetOf(deps, parts),
    events,
    toolbox,
    belt,
    guidance: skillGuidance(belt.skillTools),
    overview: await skillOverview(skills.skills, config.overviewTokens),
    artifacts: createTurnArtifacts(
      session.artifacts,
      (artifact) => events.emit({ type: 'artifact.saved', artifact }),
      (name) => deps.redact.text(name),
    ),
    pins: pinnedBefore(session.skillState),
    workspace: openWorkspace(deps, parts),
    ...usedSkills(skills, events),
  };
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

function openWorkspace(
  deps: TurnDeps,
  { turn, session, inputs, skills, signal }: OpenTurnParts,
): Workspace {
  return new Workspace({
    executor: deps.executor,
    job: { turnId: turn.turnId, sessionId: turn.sessionId },
    inputs,
    files: new SessionFiles({
      base: session.workspace,
      inputs,
      blobs: deps.blobsOf(turn),
      limits: deps.snapshotLimits,
      signal,
    }),
    skills,
    packs: deps.packs,
    signal,
  });
}

function budgetOf(
  { ledger, model }: TurnDeps,
  { turn, signal }: OpenTurnParts,
): Pick<OpenTurn, 'budget' | 'meter' | 'model'> {
  const budget = new TurnBudget(ledger, { ...turn, ...turn.request }, signal);
  const meter = new TokenMeter();
  return { budget, meter, model: budgetedModel(model, budget, meter) };
}

function usedSkills(skills: TurnSkills, events: EventSink): Pick<OpenTurn, 'used' | 'onSkillUsed'> {
  const used = new Map<string, string>();
  return {
    used,
    onSkillUsed(name, how) {
      const digest = skills.get(name)?.digest ?? '';
      used.set(name, digest);
      if (how === 'loaded') events.emit({ type: 'skill.loaded', name, digest });
    },
  };
}
