/** A request as the tokens that a model reads, by a real tokenizer. */
import { encode } from 'gpt-tokenizer/encoding/o200k_base';

/** @typedef {import('../../dist/worker/model/model.js').ModelRequest} ModelRequest */
/** @typedef {import('../../dist/worker/model/model.js').ModelMessage} ModelMessage */
/** @typedef {import('../../dist/worker/model/model.js').ToolDefinition} ToolDefinition */

/** Most texts stand in many requests. @type {Map<string, readonly number[]>} */
const known = new Map();

/**
 * The tokens of a prompt in the order of providers: tools, then messages. Each tool and each message is encoded by
 * itself, as marks of the chat template part them in a prompt, so that the parts add up to the whole.
 * @param {ModelRequest} request
 */
export function promptOf({ tools, messages }) {
  return [...tools.map(wireTool), ...messages.map(messageText)].flatMap(tokens);
}

/** @param {string} text */
export function countTokens(text) {
  return tokens(text).length;
}

/** @param {readonly ToolDefinition[]} tools */
export function countTools(tools) {
  return tools.reduce((sum, tool) => sum + countTokens(wireTool(tool)), 0);
}

/** How many tokens two prompts have in common from their start: what a prompt cache can serve at best. @param {readonly number[]} before @param {readonly number[]} after */
export function commonPrefix(before, after) {
  const differs = after.findIndex((token, at) => token !== before[at]);
  return differs === -1 ? after.length : differs;
}

/** @param {ToolDefinition} tool */
function wireTool({ name, description, parameters }) {
  return `${JSON.stringify({ type: 'function', function: { name, description, parameters } })}\n`;
}

/** Text stays text: what the model reads is not the JSON that carries it. @param {ModelMessage} message */
function messageText(message) {
  const { role, content } = message;
  const text = typeof content === 'string' ? content : JSON.stringify(content ?? '');
  const calls = role === 'assistant' ? message.toolCalls : [];
  const called = calls.map((call) => `{"name":"${call.name}","arguments":${call.arguments}}`);
  return `${[role, text, ...called].join('\n')}\n`;
}

/** @param {string} text */
function tokens(text) {
  const encoded = known.get(text) ?? encode(text, { disallowedSpecial: new Set() });
  known.set(text, encoded);
  return encoded;
}
