/** The scenarios: what is run, and each way's figures. */
import { figuresOf, listedIn, plainRequestsOf, requestsOf } from './figures.js';
import { countTokens } from './prompt.js';
import { runSession } from './session.js';
import { mostTools } from './toolbox.js';

/** @typedef {import('../../dist/shared/skills/skill-snapshot.js').SkillSnapshot} SkillSnapshot */
/** @typedef {import('./figures.js').Figures} Figures */
/** @typedef {import('./session.js').SessionPlan} SessionPlan */
/** @typedef {import('./session.js').TurnPlan} TurnPlan */
/** @typedef {{ size: number, needed: number }} Scenario a toolbox, and how many of its tools a turn calls */
/**
 * The ways of a turn. `plain`: an agent with the same tools that knows nothing of skills; `narrowed`: native, and the
 * model selects only what it needs.
 * @typedef {'plain' | 'all' | 'native' | 'narrowed' | 'dispatch'} WayName
 */
/** @typedef {Record<WayName, Figures> & { scenario: Scenario, guidance: number, overview: number }} Measured */

/** One turn in a session of its own, each way. @param {SkillSnapshot} snapshot @param {Scenario} scenario @returns {Promise<Measured>} */
export async function measureTurn(snapshot, scenario) {
  const { size, needed } = scenario;
  /** @param {SessionPlan['way']} way @param {Partial<TurnPlan>} [more] */
  const run = (way, more) =>
    runSession(snapshot, { way, size, mode: 'turn', turns: [{ skill: 0, needed, ...more }] });
  const all = await run('all');
  return {
    scenario,
    guidance: countTokens(all[0]?.guidance ?? ''),
    overview: countTokens(all[0]?.overview ?? ''),
    plain: figuresOf(plainRequestsOf(all)),
    all: figuresOf(requestsOf(all)),
    native: figuresOf(requestsOf(await run('native'))),
    narrowed: figuresOf(requestsOf(await run('native', { narrows: true }))),
    dispatch: figuresOf(requestsOf(await run('dispatch'))),
  };
}

/** Four turns of a session that go to and fro between two skills. @param {SkillSnapshot} snapshot @param {number} size @param {SessionPlan['mode']} mode */
export async function measureSession(snapshot, size, mode) {
  const turns = [0, 1, 0, 1].map((skill, at) => {
    return { skill, needed: 4, isLoaded: mode === 'session' && at > 1 };
  });
  /** @param {SessionPlan['way']} way */
  const run = (way) => runSession(snapshot, { way, size, mode, turns });
  const all = await run('all');
  const native = await run('native');
  return {
    listed: native.map(listedIn),
    plain: figuresOf(plainRequestsOf(all)),
    all: figuresOf(requestsOf(all)),
    native: figuresOf(requestsOf(native)),
    dispatch: figuresOf(requestsOf(await run('dispatch'))),
  };
}

/** Turns that need three tools, for toolboxes of 5, 10, 15 … tools. @param {SkillSnapshot} snapshot */
export async function measureSizes(snapshot) {
  /** @type {Measured[]} */
  const measured = [];
  for (let size = 5; size <= mostTools; size += 5) {
    measured.push(await measureTurn(snapshot, { size, needed: 3 }));
  }
  return measured;
}
