import { appendFile, cp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Step } from '../../../examples/scripted-model.js';
import { projectDir, type Env } from '../../support/cli.js';
import { call, load, skillTools, toolNames, turnsOf } from '../../support/skill-turns.js';
import { tempDir } from '../../support/temp-dir.js';
import { openWorld, type World } from '../../support/world.js';

let world: World;
beforeAll(async () => {
  world = await openWorld({ SKILLMILL_TOOLBOX: join(projectDir, 'examples', 'toolbox.js') });
});
afterAll(() => world.close());

const turns = (env: Env, session: string, scripts: Step[][]) =>
  turnsOf(world, env, session, scripts);

describe('a frozen worker', () => {
  it('refuses skills that are not as the lock says [skills-frozen]', async () => {
    const dir = await tempDir();
    const root = join(dir, 'skills');
    await cp(join(projectDir, 'examples', 'skills'), root, { recursive: true });
    const env = {
      SKILLS_ROOT: root,
      SKILLMILL_SKILLS_LOCK: join(dir, 'lock.json'),
      SKILLMILL_SKILLS_FROZEN: '1',
    };
    expect(await world.run(['skills', 'lock'], env)).toMatchObject({ code: 0 });
    await appendFile(join(root, 'file-tools', 'SKILL.md'), '\nOne more line.\n');
    const { results, requests } = await turns(env, 'frozen', [
      [load('file-tools'), load('weather-tools'), { text: 'done' }],
    ]);
    const [changed, same] = results[0]?.toolCalls ?? [];
    expect(changed?.error).toMatchObject({ code: 'SKILL_INVALID' });
    expect(changed?.error?.message).toContain('not as it was locked');
    expect(same?.error).toBeNull();
    expect(String(requests[0]?.messages[0]?.content)).not.toContain('- file-tools:');
  });
});

describe('skills that the caller declares', () => {
  it('are shown in one request only with load mode once [load-modes]', async () => {
    const worker = await world.worker({ SKILLMILL_SKILL_MODE: 'once' });
    world.script('declared once', [call('skill_list'), { text: 'done' }]);
    const from = world.model.requests.length;
    const run = ['run', 'declared once', '--skill', 'file-tools', '--json'];
    expect(await world.run(run)).toMatchObject({ code: 0 });
    const shown = world.model.requests
      .slice(from)
      .map(({ messages }) => JSON.stringify(messages).split('[Loaded] file-tools').length - 1);
    expect(shown).toEqual([1, 0]);
    await worker.end();
  });

  it('stand in one order, whichever was used last [load-modes, prompt-prefix]', async () => {
    const worker = await world.worker({ SKILLMILL_SKILL_MODE: 'session' });
    const touch = call('skill_select_docs', { skill_name: 'file-tools', mode: 'clear' });
    world.script('touch one', [touch, { text: 'done' }]);
    const from = world.model.requests.length;
    const run = ['run', 'touch one', '--session', 'declared-order', '--json'];
    const declared = ['--skill', 'file-tools', '--skill', 'python-math'];
    expect(await world.run([...run, ...declared])).toMatchObject({ code: 0 });
    expect(await world.run(run)).toMatchObject({ code: 0 });
    const systems = world.model.requests.slice(from).map(({ messages }) => messages[0]?.content);
    expect(systems).toHaveLength(4);
    expect(new Set(systems).size).toBe(1);
    await worker.end();
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
