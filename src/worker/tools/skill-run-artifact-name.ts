import { posix } from 'node:path';

const maxCharacters = 200;
const placeholder = /\{(name|dir|base|stem|ext)\}/g;
const control = /\p{Cc}/u;

/** What is wrong with a part of an artifact's name; undefined when nothing is. */
export function artifactNameFault(part: string): string | undefined {
  if (part.length > maxCharacters) return `must not be longer than ${maxCharacters} characters`;
  if (control.test(part)) return 'must not hold control characters';
  if (part.startsWith('/')) return 'must not begin with /';
  const parts = part.split('/');
  return parts.includes('..') || parts.includes('.')
    ? 'must not hold . or .. as a part'
    : undefined;
}

/** The name under which a file of the workspace is kept: always a relative path without `..`. */
export function artifactNameOf(
  path: string,
  {
    prefix = '',
    template = '',
  }: { readonly prefix?: string | undefined; readonly template?: string | undefined },
): string {
  const base = posix.basename(path);
  const ext = posix.extname(base);
  const parts: Readonly<Record<string, string>> = {
    name: path,
    dir: posix.dirname(path),
    base,
    stem: base.slice(0, base.length - ext.length),
    ext,
  };
  const filled = template.replace(placeholder, (_, key: string) => parts[key] ?? '');
  const name = filled === template ? `${template}${path}` : filled;
  const whole = `${prefix}${name}`;
  // What odd file names make of a template may be no path: then the file keeps its own.
  return whole.split('/').some((part) => ['', '.', '..'].includes(part)) ? path : whole;
}
