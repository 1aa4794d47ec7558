import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Step } from '../../../examples/scripted-model.js';
import { projectDir, type Env } from '../../support/cli.js';
import {
  call,
  expectPrefixes,
  load,
  skillTools,
  textsOf,
  toolNames,
  turnsOf,
  weatherTools,
} from '../../support/skill-turns.js';
import { openWorld, type World } from '../../support/world.js';

let world: World;
beforeAll(async () => {
  world = await openWorld({ SKILLMILL_TOOLBOX: join(projectDir, 'examples', 'toolbox.js') });
});
afterAll(() => world.close());

const turns = (env: Env, session: string, scripts: Step[][]) =>
  turnsOf(world, env, session, scripts);

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
