import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { turnResultSchema } from '../../../src/shared/contracts/index.js';
import type { Step, WireRequest } from '../../../examples/scripted-model.js';
import { projectDir, type Env } from '../../support/cli.js';
import { openWorld, type World } from '../../support/world.js';

let world: World;
beforeAll(async () => {
  world = await openWorld({ SKILLMILL_TOOLBOX: join(projectDir, 'examples', 'toolbox.js') });
});
afterAll(() => world.close());

const call = (name: string, args: Record<string, unknown> = {}): Step => ({
  calls: [{ name, arguments: args }],
});
const load = (skill: string, more = {}) => call('skill_load', { skill_name: skill, ...more });

/** Runs turns of one session on a worker with these settings; gives each turn's result and the requests made. */
async function turns(env: Env, session: string, scripts: Step[][]) {
  const worker = await world.worker(env);
  const from = world.model.requests.length;
  const results = [];
  for (const [index, steps] of scripts.entries()) {
    const message = `${session} turn ${index}`;
    world.script(message, steps);
    const outcome = await world.run(['run', message, '--session', session, '--json']);
    results.push(turnResultSchema.parse(JSON.parse(outcome.stdout)));
  }
  await worker.end();
  return { results, requests: world.model.requests.slice(from) };
}

const toolNames = (request: WireRequest | undefined) =>
  (request?.tools ?? []).map((tool) => tool.function.name);
const textsOf = (request: WireRequest | undefined) => JSON.stringify(request?.messages);
const expectPrefixes = (requests: readonly WireRequest[]) => {
  for (const [index, request] of requests.slice(1).entries()) {
    const before = textsOf(requests[index]).slice(0, -1);
    expect(textsOf(request).startsWith(before), `request ${index + 1}`).toBe(true);
  }
};
const skillTools = [
  'skill_list',
  'skill_list_tools',
  'skill_load',
  'skill_select_tools',
  'skill_list_docs',
  'skill_select_docs',
  'skill_run',
];
const weatherTools = ['search_city_by_name', 'get_current_weather', 'get_weather_forecast'];

describe('the toolbox', () => {
  it('makes active what a loaded skill selects, and nothing else [dynamic-tools, prompt-prefix]', async () => {
    const { results, requests } = await turns({}, 'weather', [
      [
        call('get_current_weather', { city: 'Oslo' }),
        load('weather-tools'),
        call('get_current_weather', { city: 'Oslo' }),
        call('ask_name_information', { name: 'Oslo' }),
        call('skill_select_tools', {
          skill_name: 'weather-tools',
          tools: ['ask_name_information'],
          mode: 'add',
        }),
        call('ask_name_information', { name: 'Oslo' }),
        call('get_weather_forecast', { city: 'Oslo', days: 99 }),
        { text: 'done' },
      ],
      [{ text: 'next turn' }],
    ]);
    const [early, , current, refused, selected, asked, wrong] = results[0]?.toolCalls ?? [];
    expect(early?.error).toMatchObject({ code: 'TOOL_NOT_ACTIVE' });
    expect(current?.result).toMatchObject({ city: 'Oslo', sky: 'cloudy' });
    expect(refused?.error).toMatchObject({ code: 'TOOL_NOT_ACTIVE' });
    for (const name of weatherTools) expect(refused?.error?.message).toContain(name);
    expect(selected?.result).toEqual({
      skill: 'weather-tools',
      mode: 'add',
      selected_tools: [...weatherTools, 'ask_name_information'],
      include_all_tools: false,
    });
    expect(asked?.result).toMatchObject({ ask: 'the registry' });
    expect(wrong?.error?.message).toMatch(/days/);

    expect(toolNames(requests[0])).toEqual(skillTools);
    expect(toolNames(requests[2])).toEqual([...skillTools, ...weatherTools]);
    // The list only grows, also over turns: a tool that is no longer active stays listed.
    expect(toolNames(requests.at(-1))).toEqual([
      ...skillTools,
      ...weatherTools,
      'ask_name_information',
    ]);
    expectPrefixes(requests.slice(0, 8));
  });

  it('stands behind one tool with exposure dispatch [dynamic-tools]', async () => {
    const { results, requests } = await turns({ SKILLMILL_TOOL_EXPOSURE: 'dispatch' }, 'dispatch', [
      [
        load('weather-tools'),
        call('skill_tool', { name: 'get_current_weather', arguments: { city: 'Bonn' } }),
        call('skill_tool', { name: 'ask_name_information', arguments: { name: 'x' } }),
        { text: 'done' },
      ],
    ]);
    const [, weather, refused] = results[0]?.toolCalls ?? [];
    expect(weather?.result).toMatchObject({ city: 'Bonn' });
    expect(refused?.error).toMatchObject({ code: 'TOOL_NOT_ACTIVE' });
    for (const request of requests)
      expect(toolNames(request)).toEqual([...skillTools, 'skill_tool']);
    expect(textsOf(requests[1])).toContain('[Tool] get_current_weather');
    expectPrefixes(requests);
  });
});

describe('documents', () => {
  it('are listed, selected and brought once [select-docs, prompt-prefix]', async () => {
    const docs = ['docs/USAGE.md'];
    const select = (mode: string) =>
      call('skill_select_docs', { skill_name: 'file-tools', docs, mode });
    const { results, requests } = await turns({}, 'docs', [
      [
        call('skill_list_docs', { skill_name: 'file-tools' }),
        call('skill_list_tools', { skill_name: 'weather-tools' }),
        select('add'),
        load('file-tools'),
        select('add'),
        select('replace'),
        call('skill_select_docs', { skill_name: 'file-tools', mode: 'clear' }),
        call('skill_select_docs', { skill_name: 'file-tools', docs: ['no.md'] }),
        call('skill_select_docs', { skill_name: 'file-tools', mode: 'merge' }),
        { text: 'read' },
      ],
    ]);
    const [listed, tools, unloaded, , added, replaced, cleared, unknown, wrong] =
      results[0]?.toolCalls ?? [];
    expect(listed?.result).toEqual(docs);
    expect(tools?.result).toEqual({ available_tools: weatherTools });
    expect(unloaded?.error).toMatchObject({ code: 'SKILL_NOT_LOADED' });
    const answer = { skill: 'file-tools', include_all_docs: false };
    expect(added?.result).toEqual({ ...answer, mode: 'add', selected_docs: docs });
    expect(replaced?.result).toEqual({ ...answer, mode: 'replace', selected_docs: docs });
    expect(cleared?.result).toEqual({ ...answer, mode: 'clear', selected_docs: [] });
    expect(unknown?.error?.message).toContain('docs/USAGE.md');
    expect(wrong?.error?.message).toContain('mode');
    expect(textsOf(requests.at(-1)).split('[Doc] docs/USAGE.md')).toHaveLength(2);
    expectPrefixes(requests);
  });
});

describe('load modes', () => {
  it('session: what is loaded stays, and so does the prompt’s prefix [load-modes, prompt-prefix]', async () => {
    const { requests, results } = await turns({ SKILLMILL_SKILL_MODE: 'session' }, 'stays', [
      [load('weather-tools'), { text: 'loaded' }],
      [
        call('get_current_weather', { city: 'Rome' }),
        load('weather-tools'),
        { text: 'still there' },
      ],
    ]);
    expect(results[1]?.toolCalls[0]?.error).toBeNull();
    expect(textsOf(requests.at(-1)).split('[Loaded] weather-tools')).toHaveLength(2);
    expectPrefixes(requests);
    expect(toolNames(requests.at(-1))).toEqual(toolNames(requests[1]));
  });

  it('once: shown in one request, then cleared [load-modes]', async () => {
    const { requests, results } = await turns({ SKILLMILL_SKILL_MODE: 'once' }, 'once', [
      [
        load('weather-tools'),
        call('get_current_weather', { city: 'Rome' }),
        call('get_current_weather', { city: 'Rome' }),
        { text: 'over' },
      ],
    ]);
    const shows = requests.map((request) => textsOf(request).includes('[Loaded] weather-tools'));
    expect(shows).toEqual([false, true, false, false]);
    const [, first, second] = results[0]?.toolCalls ?? [];
    expect(first?.error).toBeNull();
    expect(second?.error).toMatchObject({ code: 'TOOL_NOT_ACTIVE' });
  });

  it('turn: cleared when a turn starts; the state lies under its keys [load-modes]', async () => {
    const { requests, results } = await turns({}, 'per-turn', [
      [load('file-tools', { docs: ['docs/USAGE.md'] }), { text: 'loaded' }],
    ]);
    const tag = results[0]?.turnId.split('_')[1] ?? '';
    expect(await world.redis.hgetall(`skillmill:{default:${tag}}:skill-state`)).toEqual({
      'temp:skill:loaded:file-tools': '1',
      'temp:skill:docs:file-tools': '["docs/USAGE.md"]',
      'temp:skill:tools:file-tools': '[]',
      'temp:skill:loaded_order': '["file-tools"]',
    });
    const next = await turns({}, 'per-turn', [[{ text: 'next' }]]);
    expect(textsOf(next.requests[0])).not.toContain('[Loaded] file-tools');
    expect(textsOf(requests[1])).toContain('[Loaded] file-tools');
  });

  it('drops the least recently used beyond the limit [load-modes]', async () => {
    const { results } = await turns({ SKILLMILL_MAX_LOADED_SKILLS: '1' }, 'few', [
      [
        load('weather-tools'),
        load('file-tools'),
        call('get_current_weather', { city: 'Rome' }),
        { text: 'done' },
      ],
    ]);
    expect(results[0]?.toolCalls[2]?.error).toMatchObject({ code: 'TOOL_NOT_ACTIVE' });
  });
});

describe('the prompt', () => {
  it('may carry loaded skills in the system message [skill-prompt]', async () => {
    const { requests } = await turns({ SKILLMILL_SKILL_CONTENT: 'system' }, 'system', [
      [load('file-tools'), { text: 'loaded' }],
    ]);
    const [system, ...others] = requests[1]?.messages ?? [];
    expect(String(system?.content)).toContain('[Loaded] file-tools');
    expect(JSON.stringify(others)).not.toContain('[Loaded]');
  });

  it('offers what is registered: knowledge_only knows no skill_run [skill-prompt]', async () => {
    const { requests, results } = await turns(
      { SKILLMILL_SKILL_PROFILE: 'knowledge_only' },
      'known',
      [[call('skill_run', { skill: 'file-tools', command: 'true' }), { text: 'done' }]],
    );
    expect(toolNames(requests[0])).toEqual(skillTools.filter((name) => name !== 'skill_run'));
    expect(String(requests[0]?.messages[0]?.content)).not.toContain('skill_run');
    expect(results[0]?.toolCalls[0]?.error).toMatchObject({ code: 'TOOL_NOT_FOUND' });
  });

  it('keeps to its budgets and says what was left out [skill-prompt]', async () => {
    const budgets = { SKILLMILL_OVERVIEW_TOKENS: '100', SKILLMILL_SKILL_BODY_TOKENS: '100' };
    const { requests } = await turns(budgets, 'short', [[load('weather-tools'), { text: 'ok' }]]);
    const system = String(requests[0]?.messages[0]?.content);
    expect(system).toMatch(/\n- weather-tools$/);
    expect(String(requests[1]?.messages.at(-1)?.content)).toMatch(
      /The rest of this skill’s text is left out: \d+ tokens over the limit of 100/,
    );
  });
});
