import { quoted } from './skill-diagnostic.js';

/** Longest name that the Agent Skills specification allows, in characters. */
export const maxNameLength = 64;
// A skill is a folder `skills/<name>` in the workspace: the longest file name of ordinary file systems.
const maxNameBytes = 255;

/** Why a name can never be a folder's name in a workspace (a clause for a message), or undefined; the rule is CASES 7. */
export function nameDanger(name: string): string | undefined {
  if (/[/\\]/.test(name)) return 'it holds a slash or backslash';
  if (name === '.' || name.includes('..')) return 'it holds ..';
  if (/[\p{Cc}\u2028\u2029]/u.test(name)) return 'it holds a control character or line break';
  if (/\p{Cs}/u.test(name)) return 'it is not well-formed Unicode';
  if (Buffer.byteLength(name) > maxNameBytes) return `it is longer than ${maxNameBytes} bytes`;
  return undefined;
}

/** Is it a name by the Agent Skills specification, but for its length: lower-case letters, digits, single hyphens between them? */
export function isStrictName(name: string): boolean {
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name);
}

/** The sentence for a name that is left out. */
export function dangerMessage(name: string, danger: string): string {
  return `The name ${quoted(name)} cannot be used: ${danger}. Use lower-case letters, digits and single hyphens.`;
}
