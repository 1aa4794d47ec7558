import { z } from 'zod';
import { plainSize } from './plain-size.js';

/** What a server answered to a call, as it came. */
export interface McpAnswer {
  readonly content?: readonly unknown[] | undefined;
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
}

/** What one call may bring into the conversation. */
const maxResultBytes = 64 * 1024;
/** Left free for the note of what was left out. */
const noteBytes = 200;

const textPart = z.looseObject({ type: z.literal('text'), text: z.string() });
const mediaPart = z.looseObject({
  type: z.enum(['image', 'audio']),
  data: z.string(),
  mimeType: z.string().optional(),
});
const linkPart = z.looseObject({
  type: z.literal('resource_link'),
  uri: z.string(),
  name: z.string().optional(),
  description: z.string().optional(),
});
const resourcePart = z.looseObject({
  type: z.literal('resource'),
  resource: z.looseObject({
    uri: z.string(),
    mimeType: z.string().optional(),
    text: z.string().optional(),
    blob: z.string().optional(),
  }),
});
const partSchema = z.union([textPart, mediaPart, linkPart, resourcePart]);

/** One part of a result as the model reads it. */
interface ShownPart {
  readonly type: string;
  readonly uri?: string;
  readonly name?: string;
  readonly text?: string;
  readonly note?: string;
}

/**
 * What the model is told: structured content as it is, else a single text as it is, else a list of the parts, with short
 * notes in place of images, sound and other bytes; never more than 64 KiB.
 */
export function toResult({ content, structuredContent }: McpAnswer): unknown {
  if (structuredContent !== undefined) {
    const size = plainSize(structuredContent);
    if (size !== undefined && size <= maxResultBytes) return structuredContent;
    if (size !== undefined) return cutText(JSON.stringify(structuredContent), maxResultBytes);
  }
  const parts = (content ?? []).map(shownPart);
  const [first] = parts;
  if (first === undefined) return null;
  if (parts.length === 1 && first.type === 'text') return cutText(first.text ?? '', maxResultBytes);
  return boundedParts(parts);
}

/** What a tool that failed said of it. */
export function toFailure({ content, structuredContent }: McpAnswer): string {
  const texts = (content ?? []).map(shownPart).flatMap(({ text }) => text ?? []);
  const said = texts.join('\n');
  if (said.trim() !== '') return cutText(said, maxResultBytes);
  const size = structuredContent === undefined ? undefined : plainSize(structuredContent);
  if (size !== undefined) return cutText(JSON.stringify(structuredContent), maxResultBytes);
  return 'it gave no reason';
}

function shownPart(part: unknown): ShownPart {
  const { data } = partSchema.safeParse(part);
  switch (data?.type) {
    case 'text':
      return { type: 'text', text: data.text };
    case 'image':
    case 'audio':
      return { type: data.type, note: bytesNote(data.mimeType, data.data) };
    case 'resource_link':
      return linked(data.uri, data.name, data.description);
    case 'resource':
      return embedded(data.resource);
    case undefined:
      return { type: 'unknown', note: 'left out: a part of a kind that is not known here' };
  }
}

function linked(uri: string, name?: string, description?: string): ShownPart {
  return {
    type: 'resource_link',
    uri,
    ...(name !== undefined && { name }),
    ...(description !== undefined && { text: description }),
  };
}

function embedded({ uri, mimeType, text, blob }: z.output<typeof resourcePart>['resource']) {
  const shown = text === undefined ? { note: bytesNote(mimeType, blob ?? '') } : { text };
  return { type: 'resource', uri, ...shown };
}

function bytesNote(mimeType: string | undefined, base64: string): string {
  const kind = mimeType === undefined ? '' : `${mimeType.slice(0, 100)}, `;
  return `left out: ${kind}${Math.floor((base64.length * 3) / 4)} bytes`;
}

/** The parts that fit, the text of the first that does not cut, and a note of how many are left out. */
function boundedParts(parts: readonly ShownPart[]): ShownPart[] {
  const shown: ShownPart[] = [];
  let room = maxResultBytes - noteBytes;
  for (const [index, part] of parts.entries()) {
    const fitting = fitted(part, room);
    const size = fitting === undefined ? undefined : sizeOf(fitting);
    if (fitting === undefined || size === undefined || size > room) {
      const left = parts.length - index;
      return [
        ...shown,
        { type: 'note', note: `${left} of ${parts.length} parts left out: too long` },
      ];
    }
    shown.push(fitting);
    room -= size;
  }
  return shown;
}

/** The part with as much of its text as there is room for. */
function fitted(part: ShownPart, room: number): ShownPart | undefined {
  const size = sizeOf(part);
  if (size <= room) return part;
  if (part.text === undefined) return undefined;
  // Escapes make JSON longer than the text; the share of the text that fits is guessed from the whole.
  const others = size - sizeOf({ ...part, text: '' });
  const share = ((room - (size - others)) / others) * Buffer.byteLength(part.text);
  return share < minTextBytes
    ? undefined
    : { ...part, text: cutText(part.text, Math.floor(share)) };
}

/** A shorter beginning of a text says nothing. */
const minTextBytes = 1000;

/** In bytes, with the comma after it. */
function sizeOf(part: ShownPart): number {
  return Buffer.byteLength(JSON.stringify(part)) + 1;
}

/** The beginning of a text, as long as it and a note of what is left out fit into the limit. */
function cutText(text: string, limitBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= limitBytes) return text;
  const kept = bytes.subarray(0, Math.max(0, limitBytes - noteBytes));
  const whole = new TextDecoder().decode(kept, { stream: true }); // without a character that was cut
  return `${whole}\n[${bytes.length - Buffer.byteLength(whole)} of ${bytes.length} bytes left out]`;
}
