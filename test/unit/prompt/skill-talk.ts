import type { Message, ShownSkill } from '../../../src/shared/contracts/index.js';
import { SkillmillError } from '../../../src/shared/errors/skillmill-error.js';
import type { ModelMessage } from '../../../src/worker/model/model.js';
import { buildRequest } from '../../../src/worker/prompt/build-request.js';
import { LoadedContent } from '../../../src/worker/prompt/loaded-content.js';
import {
  isEmpty,
  ShownContent,
  type ContentPlacement,
  type LoadMode,
} from '../../../src/worker/prompt/shown-content.js';
import {
  keepRecent,
  type LoadedSkill,
  type SkillState,
} from '../../../src/worker/session/skill-state.js';
import type { TurnSkills } from '../../../src/worker/skills/turn-skills.js';
import { TurnToolbox, type ToolExposure } from '../../../src/worker/toolbox/turn-toolbox.js';
import { skillTools } from '../../../src/worker/tools/skill-tools.js';
import { answer, assistant, newTurnId, user } from '../session/conversation.js';
import type { SkillCall } from '../tools/skill-calls.js';
import { contextOf, docText, toolbox } from '../tools/three-skills.js';

export interface TalkRules {
  readonly mode: LoadMode;
  readonly placement: ContentPlacement;
  readonly exposure: ToolExposure;
  /** Skills that stay loaded; 0 is no limit. */
  readonly limit: number;
}

/** A request's messages, and what they have to say. */
export interface TalkRequest {
  readonly messages: readonly ModelMessage[];
  /** Without what is shown in this request only. */
  readonly lasting: readonly ModelMessage[];
  /** What the results since the request before brought. */
  readonly brought: readonly ShownSkill[];
  /** What is loaded now, with all that is selected of it. */
  readonly selected: readonly ShownSkill[];
}

/** A session that a model loads skills in, with the parts that decide what its requests hold, put together as a turn does it. */
export class SkillTalk {
  state: SkillState = [];
  private toolbox: TurnToolbox;
  private brought: ShownSkill[] = [];
  private readonly skills: TurnSkills;
  private readonly rules: TalkRules;
  private readonly history: Message[] = [];
  private turnId = newTurnId();
  private shown: ShownContent;
  private content: LoadedContent;
  private calls = 0;

  constructor(skills: TurnSkills, rules: TalkRules) {
    this.skills = skills;
    this.rules = rules;
    [this.toolbox, this.shown, this.content] = this.open();
    this.history.push(user(this.turnId));
  }

  /** Ends the turn with an answer and begins the next one. */
  async nextTurn(): Promise<void> {
    this.history.push(assistant(this.turnId, [], 'done'));
    this.turnId = newTurnId();
    if (this.rules.mode !== 'session') this.state = [];
    [this.toolbox, this.shown, this.content] = this.open();
    for (const message of this.history) await this.prepare(this.shown.filledIn(message));
    for (const loaded of this.state) {
      const wanted = this.selectedOf(loaded);
      await this.prepare(wanted);
      this.shown.showAtTop(wanted);
    }
    this.history.push(user(this.turnId));
  }

  /** The model makes these calls in one reply; gives the codes of those that were refused. */
  async reply(calls: readonly SkillCall[]): Promise<string[]> {
    const ids = calls.map(() => `c${(this.calls += 1)}`);
    this.history.push(assistant(this.turnId, ids));
    const codes: string[] = [];
    for (const [at, call] of calls.entries()) {
      const message = answer(this.turnId, ids[at] ?? '');
      try {
        const outcome = await this.run(call);
        if (outcome?.shows !== undefined) this.brought.push(outcome.shows);
        const shows = outcome?.shows && this.shown.newly(outcome.shows);
        const told = { ...message, content: JSON.stringify(outcome?.result) };
        const whole = shows === undefined || isEmpty(shows) ? told : { ...told, shows };
        await this.prepare(shows);
        this.shown.onToolMessage(whole);
        this.history.push(whole);
      } catch (error) {
        codes.push(SkillmillError.from(error).code);
        this.history.push(message);
      }
    }
    return codes;
  }

  /** The next request. */
  request(): TalkRequest {
    const cleared = this.shown.takeCleared();
    this.state = this.state.filter(({ name }) => !cleared.includes(name));
    const brought = this.brought;
    this.brought = [];
    const atTop = this.shown.system(this.state);
    const trailing = this.shown.trailing(this.state);
    const { messages } = buildRequest({
      turnId: this.turnId,
      ...{ guidance: 'GUIDE', overview: 'OVERVIEW', tools: this.toolbox.listed() },
      ...{ atTop, trailing, messages: [...this.history] },
      filledIn: (message) => this.shown.filledIn(message),
      contentOf: (shown) => this.content.textOf(shown),
    });
    const lasting = trailing.length === 0 ? messages : messages.slice(0, -1);
    return {
      messages,
      lasting,
      brought,
      selected: this.state.map((held) => this.selectedOf(held)),
    };
  }

  /** All that is selected of a skill, as far as requests have to show it. */
  private selectedOf({ name, docs, tools }: LoadedSkill): ShownSkill {
    const skill = this.skills.get(name);
    if (skill === undefined) throw new Error(`there is no ${name}`);
    const selected = docs === '*' ? skill.docs : docs;
    const schemas = this.toolbox.schemasFor(skill, tools);
    return { skill: name, body: true, docs: [...selected], tools: [...schemas] };
  }

  private open(): [TurnToolbox, ShownContent, LoadedContent] {
    const { skills, turnId, state } = this;
    const { exposure, mode, placement } = this.rules;
    const open = new TurnToolbox({
      ...{ toolbox, allowed: undefined, exposure, skills, listedBefore: [] },
      state: () => this.state,
    });
    const history = [...this.history];
    return [
      open,
      new ShownContent({
        ...{ turnId, mode, placement, skills, initial: state, history },
        schemasFor: (skill, selection) => open.schemasFor(skill, selection),
      }),
      new LoadedContent(skills, { bodyTokens: 1000, docTokens: 1000 }, (name) =>
        open.definitionOf(name),
      ),
    ];
  }

  private async prepare(shown: ShownSkill | undefined): Promise<void> {
    if (shown !== undefined) await this.content.prepare(shown);
  }

  private run({ tool, args }: SkillCall) {
    const called = skillTools('full').find(({ definition }) => definition.name === tool);
    const set = (next: SkillState) => (this.state = keepRecent(next, this.rules.limit));
    const { skills } = this;
    return called?.run(
      args,
      contextOf({ skills, toolbox: this.toolbox, get: () => this.state, set }),
    );
  }
}

/** The texts that a request must hold to show this. */
export function textsOf({ skill, body, docs, tools = [] }: ShownSkill): string[] {
  return [
    ...(body ? [`[Loaded] ${skill}\n\nI am ${skill} in $SKILLS_DIR/${skill}.`] : []),
    ...docs.map((path) => `[Doc] ${path}\n\n${docText(skill, path)}`),
    ...tools.map((name) => `[Tool] ${name}: does ${name}\nParameters: {"type":"object"}`),
  ];
}

/** Everything that a request says, as one text. */
export const wholeText = (messages: readonly ModelMessage[]) =>
  messages.map(({ content }) => (typeof content === 'string' ? content : '')).join('\n\n');
