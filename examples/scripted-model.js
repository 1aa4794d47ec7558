import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { chunksOf } from './scripted-stream.js';

/**
 * A small OpenAI-compatible model server that plays scripts: for the demo and the tests, so that neither needs a key.
 * Which reply comes next is read off the request itself (how many replies the current turn has so far), so a
 * request that is made again gets the same reply.
 *
 * @typedef {{ role: string, content?: unknown, tool_calls?: { id: string, function: { name: string, arguments: string } }[], tool_call_id?: string }} WireMessage
 * @typedef {{ model: string, messages: WireMessage[], tools?: { function: { name: string } }[], stream?: boolean, tool_choice?: unknown, max_tokens?: number, response_format?: unknown }} WireRequest
 * @typedef {{ name: string, arguments: unknown, id?: string }} ScriptedCall
 * @typedef {string | Uint8Array | number} Chunk
 * @typedef {{ text?: string, calls?: ScriptedCall[], status?: number, headers?: Record<string, string>, body?: string, delayMs?: number, chunks?: Chunk[], cut?: boolean }} Reply
 *   `body` is sent as it is; so are `chunks`, with a pause of so many milliseconds for each number; `cut` breaks the connection off then
 * @typedef {Reply | ((request: WireRequest) => Reply | Promise<Reply>)} Step
 * @typedef {(userText: string, request: WireRequest) => Step[] | undefined} Script
 *
 * @typedef {object} ScriptedModel
 * @property {string} baseUrl  what OPENAI_BASE_URL is to hold
 * @property {number} port
 * @property {WireRequest[]} requests  every valid request, in order of arrival
 * @property {string[]} faults  what a strict server would have refused
 * @property {() => Promise<void>} close
 */

/**
 * Starts the server.
 * @param {Script} script  the steps for a turn, by the text of its user message
 * @param {{ port?: number, host?: string }} [options]
 * @returns {Promise<ScriptedModel>}
 */
export async function startScriptedModel(script, { port = 0, host = '127.0.0.1' } = {}) {
  /** @type {WireRequest[]} */
  const requests = [];
  /** @type {string[]} */
  const faults = [];

  const server = createServer((request, response) => {
    answer(request)
      .catch((/** @type {unknown} */ error) => plain({ status: 500, body: String(error) }))
      .then((answered) => send(response, answered))
      .catch(() => response.destroy());
  });

  /** @param {import('node:http').IncomingMessage} request */
  async function answer(request) {
    if (request.url !== '/v1/chat/completions') return plain({ status: 404, body: '{}' });
    const body = /** @type {WireRequest} */ (await json(request));
    const fault = historyFault(body.messages);
    if (fault !== undefined) {
      faults.push(fault);
      return plain({ status: 400, body: JSON.stringify({ error: { message: fault } }) });
    }
    requests.push(body);
    const reply = await nextReply(script, body);
    if (reply.delayMs !== undefined) await waitFor(reply.delayMs, request);
    if (reply.status !== undefined || reply.body !== undefined) return plain(reply);
    if (reply.chunks !== undefined) return streamed(reply, reply.chunks);
    const answered = completion(body, reply);
    return body.stream === true
      ? streamed(reply, chunksOf(answered))
      : plain({ ...reply, body: JSON.stringify(answered) });
  }

  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(undefined));
  });
  const address = server.address();
  const boundPort = typeof address === 'object' && address !== null ? address.port : port;
  return {
    baseUrl: `http://127.0.0.1:${boundPort}/v1`,
    port: boundPort,
    requests,
    faults,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The text of a message's content. @param {WireMessage | undefined} message */
export function textOf(message) {
  const content = message?.content;
  if (typeof content === 'string') return content;
  return Array.isArray(content)
    ? content.map((/** @type {{ text?: string }} */ part) => part.text ?? '').join('')
    : '';
}

/**
 * @param {Script} script
 * @param {WireRequest} request
 * @returns {Promise<Reply>}
 */
async function nextReply(script, request) {
  // The last user message that the script knows: a request may end with another that carries content.
  const at = request.messages.findLastIndex(
    (message) => message.role === 'user' && script(textOf(message), request) !== undefined,
  );
  const steps = script(textOf(request.messages[at]), request) ?? [];
  const done = request.messages
    .slice(Math.max(at, 0))
    .filter((message) => message.role === 'assistant').length;
  const step = steps[done];
  if (step === undefined) return { text: `(the script has no step ${done} for this turn)` };
  return typeof step === 'function' ? step(request) : step;
}

/**
 * @param {WireRequest} request
 * @param {Reply} reply
 */
function completion(request, reply) {
  const calls = reply.calls ?? [];
  const message = {
    role: 'assistant',
    content: reply.text ?? null,
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map((call, index) => ({
            id: call.id ?? `call_${request.messages.length}_${index}`,
            type: 'function',
            function: {
              name: call.name,
              arguments:
                typeof call.arguments === 'string'
                  ? call.arguments
                  : JSON.stringify(call.arguments),
            },
          })),
        }),
  };
  const promptTokens = Math.ceil(JSON.stringify(request.messages).length / 4);
  const completionTokens = Math.ceil(JSON.stringify(message).length / 4);
  return {
    id: 'chatcmpl-scripted',
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: request.model,
    choices: [{ index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }],
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    },
  };
}

/**
 * @typedef {{ status: number, headers: Record<string, string>, chunks: Chunk[], cut: boolean }} Answer
 */

/**
 * @param {Reply} reply
 * @returns {Answer}
 */
function plain({ status = 200, headers = {}, body = '{}', cut = false }) {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    chunks: [body],
    cut,
  };
}

/**
 * @param {Reply} reply
 * @param {Chunk[]} chunks
 * @returns {Answer}
 */
function streamed({ status = 200, headers = {}, cut = false }, chunks) {
  return { status, headers: { 'content-type': 'text/event-stream', ...headers }, chunks, cut };
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {Answer} answer
 */
async function send(response, { status, headers, chunks, cut }) {
  response.writeHead(status, headers);
  response.flushHeaders();
  for (const chunk of chunks) {
    if (response.destroyed) return;
    if (typeof chunk === 'number') await sleep(chunk);
    else await new Promise((resolve) => response.write(chunk, resolve));
  }
  if (cut) response.destroy();
  else response.end();
}

/**
 * What a strict server refuses: a call that is not answered right after, in order and once; an answer to no call.
 * @param {WireMessage[]} messages
 */
function historyFault(messages) {
  /** @type {string[]} */
  let open = [];
  for (const message of messages) {
    if (message.role === 'tool') {
      const expected = open.shift();
      if (message.tool_call_id !== expected) {
        return `tool message for ${String(message.tool_call_id)} where ${String(expected)} was due`;
      }
      continue;
    }
    if (open.length > 0) return `tool call ${open.join(', ')} was not answered`;
    if (message.content === undefined) return `a ${message.role} message without content`;
    if (message.role === 'assistant') open = (message.tool_calls ?? []).map((call) => call.id);
  }
  return open.length > 0 ? `tool call ${open.join(', ')} was not answered` : undefined;
}

/**
 * @param {number} ms
 * @param {import('node:http').IncomingMessage} request  a client that goes away ends the wait
 */
function waitFor(ms, request) {
  return new Promise((resolve) => {
    const { socket } = request;
    const end = () => {
      clearTimeout(timer);
      socket.off('close', end); // a connection serves many requests
      resolve(undefined);
    };
    const timer = setTimeout(end, ms);
    socket.once('close', end);
  });
}
