import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Step } from '../../../examples/scripted-model.js';
import { turnResultSchema } from '../../../src/shared/contracts/index.js';
import { projectDir } from '../../support/cli.js';
import { eventually } from '../../support/eventually.js';
import { isAlive, processesWith, testServerPath } from '../../support/mcp-toolbox.js';
import { freePort } from '../../support/redis-server.js';
import { call, load, skillTools, textsOf, toolNames } from '../../support/skill-turns.js';
import { openWorld, type World } from '../../support/world.js';

let world: World;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skillmill-mcp-'));
  await writeSkill('sums', 'Tools:\n- calc__add\n- own_tool\n\nAdd with the tools.');
  await writeSkill('environment', 'Tools:\n- probe__info\n\nAsk the probe.');
  world = await openWorld({
    SKILLS_ROOT: folder,
    SKILLMILL_TOOLBOX: await writeToolbox('toolbox.mjs', toolbox),
  });
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

const toolbox = `
export { calc } from ${JSON.stringify(join(projectDir, 'examples', 'mcp-toolbox.js'))};
export const others = [
  defineTool({ name: 'own_tool', description: 'own', parameters: z.object({}), execute: () => 'own' }),
  defineMcpServer({
    name: 'probe',
    command: 'node',
    args: [${JSON.stringify(testServerPath)}],
    env: { PROBE_TOKEN: 'probe-token-0123', PROBE_LEVEL: 'plain' },
    tools: ['info', 'spawn'],
  }),
];`;

/** Writes a toolbox module; its imports are the built package's. */
async function writeToolbox(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  const built = JSON.stringify(join(projectDir, 'dist', 'worker', 'toolbox', 'index.js'));
  const zod = JSON.stringify(join(projectDir, 'node_modules', 'zod', 'index.js'));
  const imports = `import { defineMcpServer, defineTool } from ${built};\nimport { z } from ${zod};\n`;
  await writeFile(path, imports + text);
  return path;
}

async function writeSkill(name: string, body: string): Promise<void> {
  await mkdir(join(folder, name));
  const text = `---\nname: ${name}\ndescription: Skill ${name}\n---\n\n${body}\n`;
  await writeFile(join(folder, name, 'SKILL.md'), text);
}

/** Runs one turn; gives its result and the requests made. */
async function turn(message: string, steps: Step[]) {
  const from = world.model.requests.length;
  world.script(message, steps);
  const { stdout } = await world.run(['run', message, '--json']);
  const result = turnResultSchema.parse(JSON.parse(stdout));
  return { result, requests: world.model.requests.slice(from) };
}

/** The process of an MCP server that this worker started. */
async function serverOf(worker: { child: { pid?: number | undefined } }, script: string) {
  const pid = String(worker.child.pid);
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  for (const child of children.trim().split(' ')) {
    const line = await readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '');
    if (line.includes(script)) return Number(child);
  }
  return undefined;
}

describe('tools of MCP servers', () => {
  it('become active with the skill that names them; a server that is killed is started again [mcp-tools, dynamic-tools]', async () => {
    const worker = await world.worker();
    const first = await eventually('the server', () => serverOf(worker, 'calc-server.js'));
    const killed: Step = async () => {
      process.kill(first, 'SIGKILL');
      await eventually('its end', async () => ((await isAlive(first)) ? undefined : true));
      return { calls: [{ name: 'calc__add', arguments: { a: 20, b: 22 } }] };
    };
    const { result, requests } = await turn('add', [
      call('calc__add', { a: 1, b: 1 }),
      load('sums'),
      call('calc__add', { a: 40, b: 2 }),
      call('calc__multiply', { a: 1, b: 1 }),
      killed,
      call('calc__add', { a: 'x' }),
      call('own_tool'),
      { text: 'done' },
    ]);
    const [early, , added, other, again, wrong, own] = result.toolCalls;
    expect(early?.error).toMatchObject({ code: 'TOOL_NOT_ACTIVE' });
    expect(added).toMatchObject({ name: 'calc__add', result: '42', error: null });
    expect(other?.error).toMatchObject({ code: 'TOOL_NOT_ACTIVE' });
    expect(again).toMatchObject({ result: '42', error: null });
    expect(wrong?.error).toMatchObject({ code: 'TOOL_FAILED' });
    expect(own).toMatchObject({ result: 'own' });
    expect(result.status).toBe('completed');

    expect(toolNames(requests[0])).toEqual(skillTools);
    expect(toolNames(requests[2])).toEqual([...skillTools, 'calc__add', 'own_tool']);
    const listed = requests[2]?.tools?.find((tool) => tool.function.name === 'calc__add');
    expect(listed?.function).toMatchObject({
      description: 'Adds two numbers',
      parameters: { type: 'object', properties: { a: { type: 'number' } } },
    });
    expect(requests[3]?.messages.at(-1)).toMatchObject({ role: 'tool', content: '42' });

    const second = await serverOf(worker, 'calc-server.js');
    expect(second).not.toBe(first);
    expect(await worker.end()).toBe(0);
    expect(await isAlive(second ?? 0)).toBe(false);
  });

  it('know nothing of the worker, whose stop leaves nothing of them [mcp-tools, secrets]', async () => {
    const worker = await world.worker({ OPENAI_API_KEY: 'sk-not-for-servers' });
    const probe = await eventually('the server', () => serverOf(worker, 'mcp-test-server.js'));
    const { result, requests } = await turn('what do you see', [
      load('environment'),
      call('probe__info'),
      call('skill_select_tools', {
        skill_name: 'environment',
        tools: ['probe__spawn'],
        mode: 'add',
      }),
      call('probe__spawn'),
      { text: 'done' },
    ]);
    const [, info, , spawned] = result.toolCalls;
    const { env } = info?.result as { env: Record<string, string> };
    expect(Object.keys(env).sort()).toEqual(
      ['HOME', 'PATH', 'PROBE_LEVEL', 'PROBE_TOKEN', 'SKILLMILL_MCP_SERVER'].sort(),
    );
    expect(env).toMatchObject({ PROBE_LEVEL: 'plain', PROBE_TOKEN: '[redacted]' });
    expect(textsOf(requests.at(-1))).not.toContain('probe-token-0123');

    const { pids } = spawned?.result as { pids: number[] };
    expect(await Promise.all([probe, ...pids].map(isAlive))).toEqual([true, true, true]);
    expect(await worker.end()).toBe(0);
    expect(await processesWith('PROBE_TOKEN=probe-token-0123')).toEqual([]);
  });

  it('end with a worker that dies [mcp-tools]', async () => {
    const worker = await world.worker();
    const probe = await eventually('the server', () => serverOf(worker, 'mcp-test-server.js'));
    await worker.end('SIGKILL');
    await eventually('its end', async () => ((await isAlive(probe)) ? undefined : true));
  });

  it('of a server that cannot be used keep the worker from starting; all faults are named [mcp-tools, config-wrong]', async () => {
    const url = `http://127.0.0.1:${await freePort()}/mcp`;
    const broken = await writeToolbox(
      'broken.mjs',
      `export const servers = [
        defineMcpServer({ name: 'away', url: '${url}', headers: { Authorization: 'Bearer away-4567' } }),
        defineMcpServer({ name: 'gone', command: 'no-such-program' }),
        defineMcpServer({ name: 'noisy', command: 'sh', args: ['-c', 'yes garbage'] }),
        defineMcpServer({ name: 'no good', command: 'sh' }),
      ];`,
    );
    const { code, stderr } = await world.run(['worker'], { SKILLMILL_TOOLBOX: broken });
    expect(code).toBe(2);
    const [line] = stderr.split('\n').filter((text) => text.includes('CONFIG_INVALID'));
    for (const fault of [
      'MCP server "no good": its name must be',
      'MCP server away cannot be used: fetch failed (connect ECONNREFUSED',
      'MCP server gone cannot be used: the command no-such-program cannot be started',
      'MCP server noisy cannot be used: its stdout holds something else than MCP messages',
    ]) {
      expect(line).toContain(fault);
    }
    expect(stderr).not.toContain('away-4567');
  });
});
