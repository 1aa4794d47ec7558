/** Turns of a session as the worker runs them, with a scripted model in the place of a real one, and no Redis or sandbox. */
import { toListedField } from '../../dist/worker/session/listed-tools.js';
import { toStateHash } from '../../dist/worker/session/skill-state.js';
import { openTurnSkills } from '../../dist/worker/skills/turn-skills.js';
import { openTurn } from '../../dist/worker/turn/open-turn.js';
import { runTurn } from '../../dist/worker/turn/run-turn.js';
import { commitOf } from '../../dist/worker/turn/turn-result.js';
import { callsOf, skillsFor } from './toolbox.js';
import { depsOf, openBenchToolbox, partsOf, unending } from './turn-parts.js';

/** @typedef {import('../../dist/worker/model/model.js').ModelRequest} ModelRequest */
/** @typedef {import('../../dist/shared/contracts/index.js').Session} Session */
/** @typedef {import('../../dist/shared/contracts/index.js').ToolCall} ToolCall */
/** @typedef {import('../../dist/shared/skills/skill-snapshot.js').SkillSnapshot} SkillSnapshot */
/** @typedef {import('./toolbox.js').Call} Call */

/**
 * `all`: every tool is listed from the first request on. `native` and `dispatch`: SKILLMILL_TOOL_EXPOSURE.
 * @typedef {'all' | 'native' | 'dispatch'} Way
 */
/**
 * @typedef {object} TurnPlan
 * @property {number} skill which skill it takes
 * @property {number} needed how many of its tools it calls
 * @property {boolean} [narrows] asks for the names first, and selects only what it needs with the load
 * @property {boolean} [isLoaded] the skill is still loaded from an earlier turn
 */
/** @typedef {{ way: Way, size: number, mode: 'turn' | 'session', turns: readonly TurnPlan[] }} SessionPlan */
/** @typedef {{ request: ModelRequest, calls: readonly ToolCall[] }} ModelCall a request, and what the model calls in its reply */
/** @typedef {{ guidance: string, overview: string, calls: readonly ModelCall[] }} TurnRecord */

/** Runs a session's turns one after another. @param {SkillSnapshot} snapshot @param {SessionPlan} plan @returns {Promise<TurnRecord[]>} */
export async function runSession(snapshot, plan) {
  const skills = openTurnSkills(snapshot.allowed(skillsFor(plan.size)));
  const toolbox = await openBenchToolbox(plan.size);
  /** @type {TurnRecord[]} */
  const records = [];
  // A session that has listed every tool before goes on listing them all.
  const listed = plan.way === 'all' ? [...toolbox.current().keys()] : [];
  /** @type {Session} */
  let session = { messages: [], skillState: toListedField(listed), ...bare };
  for (const turn of plan.turns) {
    const model = scriptedModel(`turn${records.length}`, repliesOf(turn, plan));
    const deps = depsOf(plan, toolbox, model);
    const open = await openTurn(deps, partsOf(deps, session, skills));
    const end = await runTurn(deps, open, unending());
    const failed = open.transcript.toolCalls.find(({ error }) => error !== null);
    if (end.kind !== 'completed' || failed) throw new Error(JSON.stringify({ end, failed }));
    records.push({ guidance: open.guidance, overview: open.overview, calls: model.made() });
    session = after(session, commitOf(deps, open, end));
  }
  await toolbox.close();
  return records;
}

const bare = { artifacts: [], workspace: undefined };

/** What the next turn of the session reads. @param {Session} session @param {ReturnType<typeof commitOf>} commit @returns {Session} */
function after(session, { messages, skills }) {
  if (skills === undefined) throw new Error('the turn never began');
  return {
    messages: [...session.messages, ...messages],
    skillState: { ...toStateHash(skills.state), ...toListedField(skills.listedTools) },
    ...bare,
  };
}

/** The calls of each reply, the last of which has none. @param {TurnPlan} turn @param {SessionPlan} plan @returns {Call[][]} */
function repliesOf(turn, { way, size }) {
  const skill_name = skillsFor(size)[turn.skill];
  const needed = callsOf(turn.skill, turn.needed);
  const tools = needed.map(({ name }) => name);
  const load = { name: 'skill_load', args: { skill_name } };
  const narrowing = [
    [{ name: 'skill_list_tools', args: { skill_name } }],
    [load, { name: 'skill_select_tools', args: { skill_name, tools } }],
  ];
  const loading = turn.isLoaded === true ? [] : turn.narrows === true ? narrowing : [[load]];
  const working = needed.map(({ name, args }) => [
    way === 'dispatch' ? { name: 'skill_tool', args: { name, arguments: args } } : { name, args },
  ]);
  return [...loading, ...working, []];
}

/** A model that gives these replies and no other, and keeps what it was asked. @param {string} turn @param {readonly Call[][]} replies */
function scriptedModel(turn, replies) {
  /** @type {ModelCall[]} */
  const made = [];
  return {
    made() {
      if (made.length !== replies.length) throw new Error('a reply of the script is left over');
      return made;
    },
    /** @param {ModelRequest} request */
    call(request) {
      const reply = replies[made.length];
      if (reply === undefined) throw new Error('the script has no further reply');
      const calls = reply.map(({ name, args }, at) => {
        return { id: `${turn}_${made.length}_${at}`, name, arguments: JSON.stringify(args) };
      });
      made.push({ request, calls });
      const finish = /** @type {const} */ ('stop');
      const text = calls.length > 0 ? '' : 'Done: what you asked for is found, made and noted.';
      const usage = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 };
      return Promise.resolve({ text, toolCalls: calls, finish, usage });
    },
  };
}
