import type { HostileCase } from './hostile-case.js';

/** The rows of docs/security.md's list of attacks. */
export function securityRows(cases: readonly HostileCase[]): string[][] {
  return cases.map(({ group, id, tries, happens, mayReplace }) => [
    group,
    id,
    tries,
    mayReplace === true ? `${happens}; the sandbox may be replaced, which is said` : happens,
  ]);
}
