import mime from 'mime';

/** Types whose names do not begin with text/ but whose bytes are text. */
const textual =
  /^(text\/|application\/(json|xml|javascript|x-sh|yaml|toml|sql|x-ndjson|[\w.-]+\+(json|xml))|image\/svg\+xml)/;

const media = /^(audio|font|image|model|video)\//;

/** First bytes that say what a file without a telling name is. */
const signatures: readonly (readonly [string, string])[] = [
  ['89504e470d0a1a0a', 'image/png'],
  ['ffd8ff', 'image/jpeg'],
  ['474946383', 'image/gif'],
  ['255044462d', 'application/pdf'],
  ['504b0304', 'application/zip'],
  ['1f8b08', 'application/gzip'],
  ['377abcaf271c', 'application/x-7z-compressed'],
  ['53514c69746520666f726d6174203300', 'application/vnd.sqlite3'],
];

/** What a file is. */
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
    return { mimeType: plain ? named : typeOfBytes(head), isText: false };
  }
  if (head.byteLength === 0 && named !== undefined) {
    return { mimeType: named, isText: textual.test(named) };
  }
  // A name's ending may mean something else (.ts is a video stream to the registry): readable bytes are text.
  const isOther = named === undefined || (!textual.test(named) && media.test(named));
  return { mimeType: isOther ? 'text/plain' : named, isText: true };
}

function typeOfBytes(head: Uint8Array): string {
  const begin = Buffer.from(head.subarray(0, 16)).toString('hex');
  const found = signatures.find(([signature]) => begin.startsWith(signature));
  return found?.[1] ?? 'application/octet-stream';
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
