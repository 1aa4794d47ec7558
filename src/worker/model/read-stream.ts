import { createParser } from 'eventsource-parser';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import { ReplyBuilder } from './reply-builder.js';

/** What the endpoint said in a stream instead of a reply. */
export class StreamError extends Error {
  /** HTTP status, where the error names one. */
  readonly status: number | undefined;

  constructor(message: string, status: number | undefined) {
    super(message);
    this.status = status;
  }
}

export interface StreamHooks {
  /** Called whenever something arrives. */
  readonly onBytes: () => void;
  readonly onText: (text: string) => void;
  /** The answer is whole, but the endpoint has not ended it: not much is to be waited for. */
  readonly onFinished: () => void;
}

const maxBodyBytes = 32 * 1024 * 1024;

/**
 * Reads an answer that may be a stream of server-sent events or, where the endpoint does not stream, a JSON document; gives it
 * in the form of a whole answer.
 * @throws StreamError for an error object where a reply was due; SkillmillError MODEL_UNAVAILABLE when the stream was cut or holds a
 * chunk that cannot be read, MODEL_PROTOCOL for one without end; SyntaxError for a body that is neither
 */
export async function readBody(
  chunks: AsyncIterable<Uint8Array>,
  hooks: StreamHooks,
): Promise<unknown> {
  const stream = new EventReader(hooks.onText);
  const decoder = new TextDecoder();
  let start = '';
  let size = 0;
  let isStream: boolean | undefined;
  for await (const bytes of untilCut(chunks, () => stream.isFinished)) {
    hooks.onBytes();
    const text = decoder.decode(bytes, { stream: true });
    size += bytes.length;
    if (size > maxBodyBytes) throw tooMuch();
    if (isStream === true) stream.feed(text);
    else {
      start = start === '' ? text.trimStart() : start + text; // blanks before the answer are no part of it
      isStream ??= looksLikeStream(start);
      if (isStream === true) stream.feed(start);
    }
    if (stream.isDone) break;
    if (stream.isFinished) hooks.onFinished();
  }
  if (isStream === true) return stream.end(decoder.decode());
  return wholeAnswer(start);
}

/** An answer that is no stream: an HTML page stays a text, which the reader of replies knows to name. */
function wholeAnswer(text: string): unknown {
  if (text.trimStart().startsWith('<')) return text;
  const answer: unknown = JSON.parse(text);
  const error = errorIn(answer);
  if (error !== undefined) throw error;
  return answer;
}

/** The chunks; a connection that breaks after the answer was whole just ends them. */
async function* untilCut(
  chunks: AsyncIterable<Uint8Array>,
  isFinished: () => boolean,
): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    if (!isFinished()) throw error;
  }
}

/** A JSON document begins with a bracket, a stream with a field or a comment; undefined while there are only blanks. */
function looksLikeStream(text: string): boolean | undefined {
  const first = text.replace(/^\uFEFF/, '').trimStart();
  if (first === '') return undefined;
  return !/^[{["<]/.test(first);
}

/** Takes the events of a stream. */
class EventReader {
  isDone = false;
  private readonly builder = new ReplyBuilder();
  private readonly onText: (text: string) => void;
  private readonly parser = createParser({ onEvent: ({ data }) => this.take(data) });
  private fault: Error | undefined;
  private isLast = false;

  /** Did the endpoint say why the answer ends? */
  get isFinished(): boolean {
    return this.builder.isFinished;
  }

  constructor(onText: (text: string) => void) {
    this.onText = onText;
  }

  feed(text: string): void {
    this.parser.feed(text);
    if (this.fault !== undefined) throw this.fault;
  }

  /** The end of the body: what stands there without its closing blank line counts when it is whole. */
  end(rest: string): unknown {
    this.isLast = true;
    this.feed(`${rest}\n\n`);
    if (this.isDone || this.builder.isFinished) return this.builder.completion();
    throw new SkillmillError(
      'MODEL_UNAVAILABLE',
      'The model endpoint’s answer ended in the middle: the stream was cut.',
    );
  }

  /** The parser swallows nothing, but it must not be left half way through a chunk by what we throw. */
  private take(data: string): void {
    if (this.fault !== undefined || this.isDone) return;
    try {
      this.read(data);
    } catch (error) {
      this.fault = error instanceof Error ? error : SkillmillError.from(error);
    }
  }

  private read(data: string): void {
    if (data.trim() === '[DONE]') {
      this.isDone = true;
      return;
    }
    const value = this.parse(data);
    const error = errorIn(value);
    if (error !== undefined) throw error;
    const text = this.builder.add(value);
    if (text !== '') this.onText(text);
  }

  private parse(data: string): unknown {
    try {
      return JSON.parse(data);
    } catch {
      if (this.isLast) return undefined; // the connection was cut in the middle of it
      throw new SkillmillError(
        'MODEL_UNAVAILABLE',
        'The model endpoint’s stream holds a chunk that is no JSON.',
      );
    }
  }
}

function errorIn(value: unknown): StreamError | undefined {
  if (typeof value !== 'object' || value === null || !('error' in value)) return undefined;
  const { error } = value;
  if (error === null || error === undefined) return undefined;
  const fields: Readonly<Record<string, unknown>> = typeof error === 'object' ? { ...error } : {};
  const status = [fields['code'], fields['status']].map(Number).find((n) => n >= 400 && n < 600);
  const { message } = fields;
  const said = typeof message === 'string' && message !== '' ? message : JSON.stringify(error);
  return new StreamError(said, status);
}

function tooMuch(): SkillmillError {
  return new SkillmillError(
    'MODEL_PROTOCOL',
    'The model endpoint’s answer is longer than 32 MiB. Set maxOutputTokens, or try another model.',
  );
}
