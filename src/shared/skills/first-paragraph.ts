const maxPoints = 1_024;

/** The first paragraph of a Markdown text on one line, at most 1,024 characters of it; headings and HTML comments are no paragraphs; empty when there is none. */
export function firstParagraph(markdown: string): string {
  const paragraph: string[] = [];
  let length = 0;
  for (const line of withoutComments(markdown.slice(0, 64 * 1024)).split('\n')) {
    const text = line.trim();
    if (/^(?:=+|-+)$/.test(text)) {
      paragraph.length = 0; // what stood above it was a heading
    } else if (text === '' || /^#{1,6}(?:\s|$)/.test(text)) {
      if (paragraph.length > 0) break;
    } else {
      paragraph.push(text);
      length += text.length;
      if (length > 4 * maxPoints) break;
    }
  }
  return Array.from(paragraph.join(' ')).slice(0, maxPoints).join('').trim();
}

function withoutComments(text: string): string {
  let kept = '';
  let at = 0;
  for (;;) {
    const start = text.indexOf('<!--', at);
    const end = start < 0 ? -1 : text.indexOf('-->', start + 4);
    if (end < 0) return kept + text.slice(at);
    kept += text.slice(at, start);
    at = end + 3;
  }
}
