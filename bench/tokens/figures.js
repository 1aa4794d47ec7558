/** What the requests of a turn or a session come to, in tokens. */
import { commonPrefix, countTokens, countTools, promptOf } from './prompt.js';

/** @typedef {import('../../dist/worker/model/model.js').ModelRequest} ModelRequest */
/** @typedef {import('../../dist/worker/model/model.js').ModelMessage} ModelMessage */
/** @typedef {import('./session.js').TurnRecord} TurnRecord */
/**
 * @typedef {object} Figures
 * @property {number} requests
 * @property {number} definitions of toolbox tools, in the last request's list and text
 * @property {number} body of loaded skills, in the last request
 * @property {number} input over all requests
 * @property {number} shared of the input, how much a request has in common with the start of the one before it
 * @property {number} breaks requests that do not begin with all of the request before
 * @property {number} cold cost of the input in tokens at full price, when no other session has filled the cache
 * @property {number} warm the same, when other sessions have: each request finds its tools and system message there
 */

/** Providers charge from a tenth to a half for what their prompt cache serves. */
export const cachedPrice = 0.1;

/** @param {readonly ModelRequest[]} requests @returns {Figures} */
export function figuresOf(requests) {
  const prompts = requests.map(promptOf);
  const input = sum(prompts.map((prompt) => prompt.length));
  const prefixes = prompts.map((prompt, at) => commonPrefix(prompts[at - 1] ?? [], prompt));
  const shared = sum(prefixes);
  const found = sum(requests.map((each, at) => Math.max(prefixes[at] ?? 0, openingOf(each))));
  const last = requests.at(-1) ?? { tools: [], messages: [] };
  const listed = countTools(last.tools.filter(({ name }) => !isSkillTool(name)));
  const texts = last.messages.flatMap(loadedTexts);
  return {
    requests: requests.length,
    definitions: listed + sum(texts.map(({ schemas }) => countTokens(schemas))),
    body: sum(texts.map(({ body }) => countTokens(body))),
    input,
    shared,
    breaks: prompts.filter((_, at) => (prefixes[at] ?? 0) < (prompts[at - 1]?.length ?? 0)).length,
    cold: input - shared * (1 - cachedPrice),
    warm: input - found * (1 - cachedPrice),
  };
}

/** Tokens that stand before the first message of a user. @param {ModelRequest} request */
function openingOf(request) {
  const messages = request.messages.filter(({ role }) => role === 'system');
  return promptOf({ ...request, messages }).length;
}

/** @param {readonly TurnRecord[]} records */
export function requestsOf(records) {
  return records.flatMap(({ calls }) => calls.map(({ request }) => request));
}

/**
 * The requests of an agent that has the same tools and knows nothing of skills: no skill tools, no guidance, no skill's
 * text, and no request for what only loads one.
 * @param {readonly TurnRecord[]} records of the way `all`
 */
export function plainRequestsOf(records) {
  const calls = records.flatMap((record) => record.calls);
  const working = calls.filter((call) => !call.calls.some(({ name }) => isSkillTool(name)));
  return working.map(({ request }) => withoutSkills(request));
}

/** How many toolbox tools a turn's last request lists. @param {TurnRecord} record */
export function listedIn({ calls }) {
  const tools = calls.at(-1)?.request.tools ?? [];
  return tools.filter(({ name }) => !isSkillTool(name)).length;
}

/** @param {ModelRequest} request @returns {ModelRequest} */
function withoutSkills(request) {
  const messages = request.messages.filter(({ role }) => role !== 'system');
  const calls = messages.flatMap((message) =>
    message.role === 'assistant' ? message.toolCalls : [],
  );
  const loads = new Set(calls.flatMap(({ id, name }) => (isSkillTool(name) ? [id] : [])));
  /** @param {ModelMessage} message */
  const isOfLoad = (message) =>
    message.role === 'tool'
      ? loads.has(message.toolCallId)
      : message.role === 'assistant' && message.toolCalls.some(({ id }) => loads.has(id));
  return {
    ...request,
    tools: request.tools.filter(({ name }) => !isSkillTool(name)),
    messages: messages.filter((message) => !isOfLoad(message)),
  };
}

/** What of a message is a loaded skill's body, and what are tools' schemas (exposure `dispatch`). @param {ModelMessage} message */
function loadedTexts({ role, content }) {
  if (role !== 'tool' || !content.includes('[Loaded] ')) return [];
  const text = content.slice(content.indexOf('[Loaded] '));
  const end = text.includes('[Tool] ') ? text.indexOf('[Tool] ') : text.length;
  return [{ body: text.slice(0, end), schemas: text.slice(end) }];
}

/** @param {string} name */
function isSkillTool(name) {
  return name.startsWith('skill_');
}

/** @param {readonly number[]} values */
function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
