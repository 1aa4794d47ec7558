/** A message longer than this is not read on: it would have to be held whole. */
const maxMessageBytes = 10 * 1024 * 1024;

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** `fetch`, except that a body with a message that is too long is told and fails. An event ends with a blank line; what is no stream of events is one message. */
export function createBoundedFetch(onTooLong: (reason: string) => void): Fetch {
  const reason = `it sent a message of more than ${maxMessageBytes} bytes`;
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    const body = response.body.pipeThrough(bound(() => (onTooLong(reason), new Error(reason))));
    return new Response(body, { status, statusText, headers });
  };
}

function bound(tooLong: () => Error): TransformStream<Uint8Array, Uint8Array> {
  let sinceBlankLine = 0;
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const blank = lastBlankLine(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
      sinceBlankLine = blank < 0 ? sinceBlankLine + chunk.byteLength : chunk.byteLength - blank;
      if (sinceBlankLine > maxMessageBytes) throw tooLong();
      controller.enqueue(chunk);
    },
  });
}

/** Where the last blank line of these bytes is, or -1. One that two chunks share is not seen: a message may seem longer than it is. */
function lastBlankLine(bytes: Buffer): number {
  return Math.max(...['\n\n', '\r\n\r\n', '\r\r'].map((blank) => bytes.lastIndexOf(blank)));
}
