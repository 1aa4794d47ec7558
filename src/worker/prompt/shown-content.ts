import type { Message, ShownSkill, ToolMessage, TurnId } from '../../shared/contracts/index.js';
import type { Skill } from '../../shared/skills/skill.js';
import type { Selection, SkillState } from '../session/skill-state.js';
import type { TurnSkills } from '../skills/turn-skills.js';
import { docNames } from '../tools/require-skill.js';

/** How long a load lasts. */
export type LoadMode = 'turn' | 'session' | 'once';
/** Where loaded content stands in a request. */
export type ContentPlacement = 'tool' | 'system';

export interface ShownOptions {
  readonly turnId: TurnId;
  readonly mode: LoadMode;
  readonly placement: ContentPlacement;
  readonly skills: TurnSkills;
  /** What was loaded when the turn began (mode `session`). */
  readonly initial: SkillState;
  readonly history: readonly Message[];
  /** Tools whose schemas no list of tools carries (exposure `dispatch`). */
  readonly schemasFor?: (skill: Skill, selection: Selection) => readonly string[];
}

/**
 * Which text stands where in a turn's requests. What a tool result shows is fixed when it is first shown: a later
 * selection is appended with its own result, so each request begins with all of the one before it.
 */
export class ShownContent {
  private readonly options: ShownOptions;
  /** By skill: what of it the conversation shows. */
  private readonly seen = new Map<string, Set<string>>();
  /** By skill: where in the history its text begins; what stood before belongs to an earlier load. */
  private readonly begins = new Map<string, number>();
  /** Skills of the system message: declared by the caller, or loaded earlier and shown by no message that is left. */
  private readonly atTop: ShownSkill[] = [];
  /** Mode `once`: the skills that the next request shows at its end. */
  private readonly pending: string[] = [];
  /** How many of these a request has shown. */
  private sent = 0;

  constructor(options: ShownOptions) {
    this.options = options;
    for (const [index, message] of options.history.entries()) {
      if (message.role !== 'tool' || message.shows?.body !== true) continue;
      this.begins.set(message.shows.skill, index);
    }
    for (const message of options.history) {
      const shown = this.filledIn(message);
      if (shown !== undefined) this.markSeen(shown);
    }
  }

  /** What of this is not in the conversation yet; it counts as shown from now on. */
  newly(wanted: ShownSkill): ShownSkill {
    const seen = this.seen.get(wanted.skill);
    const unseen = {
      skill: wanted.skill,
      body: wanted.body && seen?.has(bodyMark) !== true,
      docs: wanted.docs.filter((doc) => seen?.has(`doc ${doc}`) !== true),
      tools: (wanted.tools ?? []).filter((tool) => seen?.has(`tool ${tool}`) !== true),
    };
    this.markSeen(unseen);
    return unseen;
  }

  /** Shows a skill that is loaded though no message brings its text: in the system message, or (mode `once`) in the next request only. */
  showAtTop(wanted: ShownSkill): void {
    const unseen = this.newly(wanted);
    if (isEmpty(unseen)) return;
    if (this.options.mode === 'once') this.pending.push(unseen.skill);
    else this.atTop.push(unseen);
  }

  /** Tells of messages that no request holds any more; gives what they showed of skills that may still be loaded. */
  forget(messages: readonly Message[]): readonly ShownSkill[] {
    const lost = messages.flatMap((message) => this.filledIn(message) ?? []);
    for (const { skill, body, docs, tools = [] } of lost) {
      const seen = this.seen.get(skill);
      if (body) seen?.delete(bodyMark);
      for (const doc of docs) seen?.delete(`doc ${doc}`);
      for (const tool of tools) seen?.delete(`tool ${tool}`);
    }
    return lost;
  }

  /** Tells of a tool result that is part of the turn now. */
  onToolMessage(message: ToolMessage): void {
    if (message.shows !== undefined && this.options.mode === 'once')
      this.pending.push(message.shows.skill);
  }

  /** Mode `once`: names of the skills whose text has been in a request; they are to be cleared. */
  takeCleared(): readonly string[] {
    const names = this.pending.splice(0, this.sent);
    this.sent = 0;
    // What was loaded again since is to be shown once more.
    return names.filter((name) => !this.pending.includes(name));
  }

  /** What the system message shows, given what is loaded now. */
  system(state: SkillState): readonly ShownSkill[] {
    return this.options.placement === 'tool' ? this.atTop : this.whole(state);
  }

  /** What the end of the next request shows, given what is loaded now (mode `once`): each skill whole, since no other request does. */
  trailing(state: SkillState): readonly ShownSkill[] {
    this.sent = this.pending.length;
    for (const name of this.pending) this.seen.delete(name);
    if (this.options.placement === 'system') return [];
    return this.whole(state.filter(({ name }) => this.pending.includes(name)));
  }

  private whole(state: SkillState): ShownSkill[] {
    const { skills, schemasFor } = this.options;
    return state.flatMap((loaded) => {
      const skill = skills.get(loaded.name);
      if (skill === undefined) return [];
      const docs = [...docNames(skill, loaded.docs)];
      const tools = [...(schemasFor?.(skill, loaded.tools) ?? [])];
      return [{ skill: loaded.name, body: true, docs, tools }];
    });
  }

  /** What a message's text is filled in with: its own content while the load lasts, nothing after. */
  filledIn(message: Message): ShownSkill | undefined {
    if (message.role !== 'tool' || message.shows === undefined) return undefined;
    const { mode, placement, turnId } = this.options;
    if (placement === 'system' || mode === 'once') return undefined;
    if (message.turnId === turnId) return message.shows;
    return mode === 'session' && this.isOfCurrentLoad(message) ? message.shows : undefined;
  }

  private isOfCurrentLoad(message: ToolMessage): boolean {
    const skill = message.shows?.skill ?? '';
    const { initial, history } = this.options;
    return (
      initial.some((loaded) => loaded.name === skill) &&
      history.indexOf(message) >= (this.begins.get(skill) ?? 0)
    );
  }

  private markSeen(shown: ShownSkill): void {
    const seen = this.seen.get(shown.skill) ?? new Set();
    this.seen.set(shown.skill, seen);
    if (shown.body) seen.add(bodyMark);
    for (const doc of shown.docs) seen.add(`doc ${doc}`);
    for (const tool of shown.tools ?? []) seen.add(`tool ${tool}`);
  }
}

const bodyMark = 'body';

/** Does this show nothing? */
export function isEmpty(shown: ShownSkill): boolean {
  return !shown.body && shown.docs.length === 0 && (shown.tools ?? []).length === 0;
}
