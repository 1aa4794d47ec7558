import mime from 'mime';

/** Types whose names do not begin with text/ but whose bytes are text. */
const textual =
  /^(text\/|application\/(json|xml|javascript|x-sh|yaml|toml|sql|x-ndjson|[\w.-]+\+(json|xml))|image\/svg\+xml)/;

const media = /^(audio|font|image|model|video)\//;

export interface MediaType {
  readonly mimeType: string;
  /** May its bytes be shown as text? */
  readonly isText: boolean;
}

/** A file's type by its name and the first of its bytes: what is not UTF-8, or holds a NUL, is never text. */
export function mediaTypeOf(name: string, head: Uint8Array, isWhole: boolean): MediaType {
  const named = mime.getType(name) ?? undefined;
  const readable = !head.includes(0) && isUtf8(head, isWhole);
  if (!readable) {
    const plain = named !== undefined && !textual.test(named);
    return { mimeType: plain ? named : 'application/octet-stream', isText: false };
  }
  if (head.byteLength === 0 && named !== undefined) {
    return { mimeType: named, isText: textual.test(named) };
  }
  // A name's ending may mean something else (.ts is a video stream to the registry): readable bytes are text.
  const isOther = named === undefined || (!textual.test(named) && media.test(named));
  return { mimeType: isOther ? 'text/plain' : named, isText: true };
}

/** A piece that is not the whole file may end in the middle of a character. */
function isUtf8(bytes: Uint8Array, isWhole: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
    return true;
  } catch {
    return false;
  }
}
