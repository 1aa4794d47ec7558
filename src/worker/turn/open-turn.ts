import type { Message, Session, ShownSkill } from '../../shared/contracts/index.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { LimitKeeper } from '../agent/turn-limits.js';
import type { Transcript } from '../agent/run-agent.js';
import { LoadedContent } from '../prompt/loaded-content.js';
import type { EventSink } from '../publish/event-sink.js';
import { createTurnArtifacts, type TurnArtifacts } from '../publish/turn-artifacts.js';
import { emptySkillState, loadSkill, type SkillState } from '../session/skill-state.js';
import { unknownSkillMessage, type TurnSkills } from '../skills/turn-skills.js';
import { checkDocs, docNames } from '../tools/skill-load.js';
import { Workspace } from '../workspace/workspace.js';
import type { ClaimedTurn, TurnDeps } from './turn-deps.js';

/** Everything that one attempt of a turn works on. */
export interface OpenTurn {
  readonly turn: ClaimedTurn;
  readonly history: readonly Message[];
  readonly transcript: Transcript;
  readonly skills: TurnSkills;
  readonly content: LoadedContent;
  readonly skillState: { get(): SkillState; set(state: SkillState): void };
  /** Loaded because the caller asked, so that no tool result carries them. */
  readonly declared: ShownSkill[];
  readonly used: Map<string, string>;
  readonly artifacts: TurnArtifacts;
  readonly limits: LimitKeeper;
  readonly events: EventSink;
  readonly workspace: Workspace;
  readonly onSkillUsed: (name: string, how: 'loaded' | 'run') => void;
}

/** Puts an attempt's parts together. Skill state begins empty: load mode `turn`. */
export function openTurn(
  deps: TurnDeps,
  parts: {
    readonly turn: ClaimedTurn;
    readonly session: Session;
    readonly skills: TurnSkills;
    readonly limits: LimitKeeper;
    readonly events: EventSink;
    readonly signal: AbortSignal;
  },
): OpenTurn {
  const { turn, session, skills, limits, events, signal } = parts;
  let state = emptySkillState;
  const used = new Map<string, string>();
  return {
    turn,
    history: session.messages,
    transcript: { messages: [userMessage(turn)], toolCalls: [], modelMs: 0, toolMs: 0 },
    skills,
    content: new LoadedContent(skills),
    skillState: { get: () => state, set: (next) => void (state = next) },
    declared: [],
    used,
    limits,
    events,
    artifacts: createTurnArtifacts(session.artifacts, (artifact) =>
      events.emit({ type: 'artifact.saved', artifact }),
    ),
    workspace: new Workspace({
      executor: deps.executor,
      job: { turnId: turn.turnId, sessionId: turn.sessionId },
      inputs: turn.request.files,
      blobs: deps.blobsOf(turn.tenant),
      skills,
      signal,
    }),
    onSkillUsed(name, how) {
      const digest = skills.get(name)?.digest ?? '';
      used.set(name, digest);
      if (how === 'loaded') events.emit({ type: 'skill.loaded', name, digest });
    },
  };
}

/** Loads the skills that the caller declared, all or none. @throws SkillmillError SKILL_NOT_FOUND, INPUT_INVALID */
export async function loadDeclared(open: OpenTurn): Promise<void> {
  const asked = (open.turn.request.skills ?? []).map((load) =>
    typeof load === 'string' ? { name: load, docs: undefined } : load,
  );
  const unknown = asked.filter(({ name }) => open.skills.get(name) === undefined);
  if (unknown.length > 0) {
    throw new SkillmillError(
      'SKILL_NOT_FOUND',
      unknown.map(({ name }) => unknownSkillMessage(open.skills, name)).join(' '),
    );
  }
  for (const { name, docs } of asked) {
    const skill = open.skills.get(name);
    if (skill === undefined) continue;
    const selected = docs === undefined ? undefined : checkDocs(skill, docs);
    open.skillState.set(
      loadSkill(open.skillState.get(), name, { docs: selected, tools: skill.tools }),
    );
    open.onSkillUsed(name, 'loaded');
  }
  for (const loaded of open.skillState.get()) {
    const skill = open.skills.get(loaded.name);
    if (skill === undefined) continue;
    const shown = { skill: loaded.name, body: true, docs: [...docNames(skill, loaded.docs)] };
    await open.content.prepare(shown);
    open.declared.push(shown);
  }
}

/** The user's message, with a note of the files that came with it. */
export function userMessage(turn: ClaimedTurn): Message {
  const { input, files } = turn.request;
  const base = { turnId: turn.turnId, role: 'user' } as const;
  if (files.length === 0) return { ...base, content: input };
  const lines = files.map((file) => `- work/inputs/${file.path} (${file.sizeBytes} bytes)`);
  const note = `Files with this message:\n${lines.join('\n')}`;
  return typeof input === 'string'
    ? { ...base, content: `${input}\n\n${note}` }
    : { ...base, content: [...input, { type: 'text', text: note }] };
}
