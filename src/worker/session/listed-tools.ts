import { z } from 'zod';

/** Beside DESIGN §4.4's fields: the toolbox tools that the session's requests have listed, in that order. */
const field = 'skill:listed_tools';
const names = z.array(z.string());

/** The tools that earlier turns of the session listed. */
export function listedBefore(hash: Readonly<Record<string, string>>): readonly string[] {
  return names.parse(JSON.parse(hash[field] ?? '[]'));
}

/** The field that the next turn reads. */
export function toListedField(listed: readonly string[]): Record<string, string> {
  return listed.length === 0 ? {} : { [field]: JSON.stringify(listed) };
}
