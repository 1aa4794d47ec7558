import { expect } from 'vitest';
import type { Step, WireRequest } from '../../examples/scripted-model.js';
import { turnResultSchema } from '../../src/shared/contracts/index.js';
import type { Env } from './cli.js';
import type { World } from './world.js';

/** A model step that calls a tool. */
export const call = (name: string, args: Record<string, unknown> = {}): Step => ({
  calls: [{ name, arguments: args }],
});
/** A model step that loads a skill. */
export const load = (skill: string, more = {}) =>
  call('skill_load', { skill_name: skill, ...more });

/** Runs turns of one session on a worker with these settings; gives each turn's result, the requests made and the worker's log. */
export async function turnsOf(world: World, env: Env, session: string, scripts: Step[][]) {
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
  return { results, requests: world.model.requests.slice(from), log: worker.log() };
}

/** Names of the tools that a request lists. */
export const toolNames = (request: WireRequest | undefined) =>
  (request?.tools ?? []).map((tool) => tool.function.name);
/** A request's messages as one text. */
export const textsOf = (request: WireRequest | undefined) => JSON.stringify(request?.messages);
/** Each request begins with all of the one before it. */
export const expectPrefixes = (requests: readonly WireRequest[]) => {
  for (const [index, request] of requests.slice(1).entries()) {
    const before = textsOf(requests[index]).slice(0, -1);
    expect(textsOf(request).startsWith(before), `request ${index + 1}`).toBe(true);
  }
};
/** The skill tools, in the order in which they are listed. */
export const skillTools = [
  'skill_list',
  'skill_list_tools',
  'skill_load',
  'skill_select_tools',
  'skill_list_docs',
  'skill_select_docs',
  'skill_run',
];
/** The tools that the example skill names. */
export const weatherTools = ['search_city_by_name', 'get_current_weather', 'get_weather_forecast'];
