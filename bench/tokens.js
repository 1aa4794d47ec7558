/**
 * How many tokens of tool definitions and skill text a turn sends, for toolboxes of 5 to 100 tools, when all tools are
 * listed and when skills make them active (SKILLMILL_TOOL_EXPOSURE `native` and `dispatch`): `npm run bench:tokens`.
 * The worker's own code makes the requests; the model is a script, so that the figures are the same at each run.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSkillRepository } from '../dist/shared/skills/skill-repository.js';
import { dispatchTool } from '../dist/worker/tools/skill-tool.js';
import { skillTools } from '../dist/worker/tools/skill-tools.js';
import { cachedPrice } from './tokens/figures.js';
import { measureSession, measureSizes, measureTurn } from './tokens/measure.js';
import { countTools } from './tokens/prompt.js';
import { cached, count, print, printRow, printSizes, saved, say, title } from './tokens/table.js';
import { writeSkills } from './tokens/toolbox.js';

/** @typedef {import('./tokens/measure.js').Measured} Measured */
/** @typedef {import('./tokens/measure.js').Scenario} Scenario */
/** @typedef {import('./tokens/measure.js').WayName} WayName */

/** The sizes and needs of the reference (tRPC-Agent's documentation), whose savings are arithmetic. @type {readonly Scenario[]} */
const scenarios = [
  { size: 5, needed: 5 },
  { size: 20, needed: 3 },
  { size: 50, needed: 4 },
  { size: 100, needed: 5 },
];
/** Tokens that the reference takes a tool to have. */
const claimedSize = 150;
const sessionSize = 50;

/** @type {readonly (readonly [label: string, way: WayName])[]} */
const ways = [
  ['no skills, all tools listed', 'plain'],
  ['skills, all tools listed', 'all'],
  ['native', 'native'],
  ['native, narrowed', 'narrowed'],
  ['dispatch', 'dispatch'],
];
const dynamic = ways.slice(2);
/** @typedef {'input' | 'cold' | 'warm'} Sum */
/** @type {readonly Sum[]} */
const sums = ['input', 'cold', 'warm'];

const notes = [
  'Input is summed over requests. No skills: the same calls, and no instructions of any kind.',
  'Narrowed: skill_list_tools, then skill_load and skill_select_tools in one reply; selected in a',
  'later reply, tools save nothing, since the whole skill is listed by then, or shown (dispatch).',
  'Break: a request that does not begin with all of the request before. Cold: only the session fills',
  'its cache. Warm: others have sent the same tools and system message. Providers serve less: whole',
  'blocks, from about 1,000 tokens on, for some minutes. Break-even is looked for in steps of 5 tools.',
];

const eight = [
  ...skillTools('full'),
  dispatchTool(() => ({ run: () => Promise.reject(new Error('not called')) })),
].map((tool) => tool.definition);
const seven = eight.slice(0, -1);

// Printed only when the folder is gone: `| head` ends the process in the middle of it.
printAll(await measureAll());

async function measureAll() {
  const root = await mkdtemp(join(tmpdir(), 'skillmill-bench-'));
  const repository = openSkillRepository([root]);
  try {
    writeSkills(root);
    const snapshot = await repository.snapshot();
    /** @type {Measured[]} */
    const turns = [];
    for (const scenario of scenarios) turns.push(await measureTurn(snapshot, scenario));
    return {
      turns,
      inTurn: await measureSession(snapshot, sessionSize, 'turn'),
      inSession: await measureSession(snapshot, sessionSize, 'session'),
      sizes: await measureSizes(snapshot),
    };
  } finally {
    await repository.close();
    await rm(root, { recursive: true, force: true });
  }
}

/** @param {Awaited<ReturnType<typeof measureAll>>} measured */
function printAll({ turns, inTurn, inSession, sizes }) {
  printSkillTools();
  printDefinitions(turns);
  printText(turns);
  printInput(turns);
  printSession(inTurn, 'turn');
  printSession(inSession, 'session');
  printBreakEven(sizes);
  printLosses(turns);
  title('Notes');
  notes.forEach(say);
}

function printSkillTools() {
  title('The skill tools themselves: tokens in every request');
  for (const tool of eight) print(tool.name, [countTools([tool])]);
  print('native: the first seven', [countTools(seven)]);
  print('dispatch: all eight', [countTools(eight)]);
}

/** @param {readonly Measured[]} turns */
function printDefinitions(turns) {
  printSizes("Definitions of toolbox tools in a turn's last request: tokens", turns);
  printRow('all tools listed', turns, ({ all }) => all.definitions);
  for (const [label, way] of dynamic) printRow(label, turns, (turn) => turn[way].definitions);
  printRow('claimed by the reference: saved', turns, ({ scenario: { size, needed } }) => {
    return saved(needed * claimedSize, size * claimedSize);
  });
  for (const [label, way] of dynamic) {
    printRow(`${label}: saved`, turns, (turn) => {
      return saved(turn[way].definitions, turn.all.definitions);
    });
  }
  for (const [label, way] of dynamic) {
    const fixed = countTools(way === 'dispatch' ? eight : seven);
    printRow(`${label}: saved, skill tools counted`, turns, (turn) => {
      return saved(turn[way].definitions + fixed, turn.all.definitions);
    });
  }
}

/** @param {readonly Measured[]} turns */
function printText(turns) {
  printSizes("Skill text in a turn's last request: tokens", turns);
  printRow('guidance', turns, ({ guidance }) => guidance);
  printRow('overview', turns, ({ overview }) => overview);
  printRow('loaded body', turns, ({ all }) => all.body);
}

/** @param {readonly Measured[]} turns */
function printInput(turns) {
  printSizes('Input of a whole turn: tokens over all its requests (their number)', turns);
  for (const [label, way] of ways) {
    printRow(label, turns, (turn) => `${count(turn[way].input)} (${turn[way].requests})`);
  }
  printNet(turns, 'input');
  printSizes('Of it the same as the start of the request before: what a cache can serve', turns);
  for (const [label, way] of ways) printRow(label, turns, (turn) => cached(turn[way]));
  for (const key of /** @type {const} */ (['cold', 'warm'])) {
    printSizes(`Its cost in full-price tokens, cached ones at ${cachedPrice}, ${key} cache`, turns);
    for (const [label, way] of ways) printRow(label, turns, (turn) => turn[way][key]);
    printNet(turns, key);
  }
}

/** @param {readonly Measured[]} turns @param {Sum} key */
function printNet(turns, key) {
  for (const [label, way] of dynamic) {
    printRow(`${label}: saved over no skills`, turns, (turn) => {
      return saved(turn[way][key], turn.plain[key]);
    });
  }
}

/** @param {Awaited<ReturnType<typeof measureSession>>} session @param {string} mode */
function printSession(session, mode) {
  title(`A session of 4 turns with skills A B A B, ${sessionSize} tools, load mode ${mode}`);
  print('', ['requests, breaks', 'input', 'cached', 'cold cost', 'warm cost']);
  for (const [label, way] of ways) {
    if (way === 'narrowed') continue;
    const figures = session[way];
    const { requests, breaks, input, cold, warm } = figures;
    print(label, [`${requests}, ${breaks}`, input, cached(figures), cold, warm]);
  }
  print('native: tools listed after each turn', session.listed);
}

/** @param {readonly Measured[]} sizes turns that need three tools */
function printBreakEven(sizes) {
  for (const [label, base] of ways.slice(0, 2)) {
    title(`Break-even: tools from which on a turn that needs 3 takes less than with ${label}`);
    print('', ['input', 'cold cost', 'warm cost']);
    for (const [name, way] of dynamic) {
      const least = sums.map((key) => {
        const last = sizes.findLastIndex((turn) => turn[way][key] >= turn[base][key]);
        return sizes[last + 1]?.scenario.size ?? 'never';
      });
      print(name, least);
    }
  }
}

/** @param {readonly Measured[]} turns */
function printLosses(turns) {
  title('A net loss over the same tools without skills, of the turns above');
  for (const [label, way] of dynamic) {
    const lost = turns.flatMap((turn) => {
      const keys = sums.filter((key) => turn[way][key] > turn.plain[key]);
      return keys.length === 0 ? [] : [`${turn.scenario.size} tools (${keys.join(', ')})`];
    });
    say(`${label}: ${lost.length === 0 ? 'none' : lost.join('; ')}`);
  }
}
