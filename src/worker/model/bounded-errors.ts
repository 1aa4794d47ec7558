/** What of a refusal's body is read. */
const maxErrorBytes = 64 * 1024;

/** `fetch`, but for the body of a refusal: of that so much is read as anybody needs, whatever comes. */
export async function fetchWithBoundedErrors(
  input: string | URL | Request,
  init?: RequestInit,
): Promise<Response> {
  const response = await fetch(input, init);
  if (response.ok || response.body === null) return response;
  const { status, statusText, headers } = response;
  const body = await startOf(response.body);
  const plain = new Headers(headers);
  plain.delete('content-length');
  plain.delete('content-encoding'); // it has been undone
  return new Response(new Uint8Array(body), { status, statusText, headers: plain });
}

async function startOf(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size >= maxErrorBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxErrorBytes);
}
