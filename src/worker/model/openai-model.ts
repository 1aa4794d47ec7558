import { createRequire } from 'node:module';
import type OpenAI from 'openai';
import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions';
import type { ModelConfig } from '../../shared/config/config.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import { IdleTimeout } from './idle-timeout.js';
import { fetchWithBoundedErrors } from './bounded-errors.js';
import { asModelError } from './model-errors.js';
import type { Model, ModelCallHooks, ModelReply, ModelRequest } from './model.js';
import { readReply } from './read-reply.js';
import { readBody, StreamError } from './read-stream.js';
import { toWire, type WireRequest } from './to-wire.js';
import { WireDialect } from './wire-dialect.js';

// Loaded with the first call: a worker is ready before it, and it costs 0.1 s of CPU time.
const load: (name: 'openai') => typeof OpenAI = createRequire(import.meta.url);

/** What a worker needs to know to talk to one endpoint. */
export type EndpointConfig = Pick<
  ModelConfig,
  'baseUrl' | 'apiKey' | 'timeoutMs' | 'idleTimeoutMs' | 'stream'
>;

interface Endpoint {
  readonly config: EndpointConfig;
  readonly client: () => OpenAI;
  readonly redact: (text: string) => string;
}

/** What may still come after the answer's end: the usage, and the mark of the stream's end. */
const afterFinishMs = 5000;

/** A model behind an OpenAI-compatible endpoint. Everything is passed explicitly, so that the client reads no environment. */
export function createOpenAiModel(config: EndpointConfig, redact: (text: string) => string): Model {
  let made: OpenAI | undefined;
  const client = () => (made ??= makeClient(config));
  const dialects = new Map<string, WireDialect>();
  const dialectOf = (model: string): WireDialect => {
    const known = dialects.get(model) ?? new WireDialect(config.baseUrl);
    dialects.set(model, known);
    return known;
  };
  return {
    call: (request, hooks) =>
      callInDialect({ config, client, redact }, request, dialectOf(request.model), hooks),
  };
}

function makeClient(config: EndpointConfig): OpenAI {
  const Client = load('openai');
  return new Client({
    // The client insists on a key; endpoints that need none ignore it.
    apiKey: config.apiKey ?? 'none',
    baseURL: config.baseUrl,
    organization: null,
    project: null,
    webhookSecret: null,
    timeout: config.timeoutMs,
    // One place decides on retries (model-retry.ts).
    maxRetries: 0,
    logLevel: 'off',
    fetch: fetchWithBoundedErrors,
  });
}

/** One call; an endpoint that refuses a field by its name gets the request once more without, for each such field. */
async function callInDialect(
  endpoint: Endpoint,
  request: ModelRequest,
  dialect: WireDialect,
  hooks: ModelCallHooks,
): Promise<ModelReply> {
  for (;;) {
    const body = toWire(request, dialect, endpoint.config.stream);
    try {
      return await callOnce(endpoint, body, hooks);
    } catch (error) {
      const isRefusal = error instanceof SkillmillError && error.code === 'MODEL_REJECTED';
      if (!isRefusal || !dialect.learn(error.message, body)) throw error;
    }
  }
}

async function callOnce(
  { config, client, redact }: Endpoint,
  body: WireRequest,
  { signal, onText }: ModelCallHooks,
): Promise<ModelReply> {
  // The client's own time-out ends with the headers; a body that stalls must end as well.
  const timeout = AbortSignal.timeout(config.timeoutMs);
  const idle = new IdleTimeout(config.idleTimeoutMs);
  const stop = AbortSignal.any([signal, timeout, idle.signal]);
  try {
    const response = await client()
      .chat.completions.create(asParams(body), { signal: stop })
      .asResponse();
    if (body.stream) idle.start();
    const onBytes = () => idle.restart();
    const onFinished = () => idle.hurry(afterFinishMs);
    return readReply(await readBody(bodyOf(response), { onBytes, onText, onFinished }));
  } catch (error) {
    signal.throwIfAborted();
    throw asModelError(error, {
      endpoint: config.baseUrl,
      timeoutMs: config.timeoutMs,
      ...answerOf(error),
      timedOut: timeout.aborted || error instanceof load('openai').APIConnectionTimeoutError,
      stalledMs: idle.signal.aborted ? config.idleTimeoutMs : undefined,
      redact,
    });
  } finally {
    idle.stop();
  }
}

/** What an error tells of the endpoint's answer. */
function answerOf(error: unknown) {
  const isStreamError = error instanceof StreamError;
  const isApiError = error instanceof load('openai').APIError;
  const given: unknown = isStreamError || isApiError ? error.status : undefined;
  const headers: unknown = isApiError ? error.headers : undefined;
  return {
    status: typeof given === 'number' ? given : undefined,
    headers: headers instanceof Headers ? headers : undefined,
    // JSON that is nested too deep runs the parser out of stack.
    isUnreadable: error instanceof SyntaxError || error instanceof RangeError,
    isErrorObject: isStreamError,
  };
}

async function* bodyOf(response: Response): AsyncGenerator<Uint8Array> {
  if (response.body !== null) yield* response.body;
}

/** The client's types know OpenAI's own API only; what is sent is what the dialect says. */
function asParams(body: WireRequest): ChatCompletionCreateParams {
  const isParams = (value: object): value is ChatCompletionCreateParams => 'messages' in value;
  if (!isParams(body)) throw new SkillmillError('INTERNAL', 'A model request lost its messages.');
  return body;
}
