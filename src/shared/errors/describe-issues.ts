import type { z } from 'zod';

/** One fault of an input: where it is and what is wrong. */
export interface InputFault {
  readonly path: string;
  readonly message: string;
}

/** Every fault that a schema found, deepest useful message first for unions. */
export function inputFaults(error: z.ZodError): InputFault[] {
  return error.issues.flatMap((issue) => faultsOf(issue, []));
}

const shownFaults = 20;

function shortened(path: string): string {
  return path.length > 100 ? `${path.slice(0, 100)}…` : path;
}

/** All faults as one sentence list, for an error's message. */
export function describeFaults(faults: readonly InputFault[]): string {
  const shown = faults
    .slice(0, shownFaults)
    .map(({ path, message }) => (path === '' ? message : `${shortened(path)}: ${message}`));
  const more = faults.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

function faultsOf(issue: z.core.$ZodIssue, prefix: readonly PropertyKey[]): InputFault[] {
  const path = [...prefix, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: formatPath([...path, key]),
      message: 'is not a known field; check its spelling',
    }));
  }
  if (issue.code === 'invalid_union') {
    const nearest = nearestBranch(issue.errors);
    if (nearest !== undefined) return nearest.flatMap((inner) => faultsOf(inner, path));
  }
  return [{ path: formatPath(path), message: issue.message }];
}

/** The branch of a union that the value was meant for: the only one that got past the value's own type. */
function nearestBranch(
  branches: readonly (readonly z.core.$ZodIssue[])[],
): readonly z.core.$ZodIssue[] | undefined {
  const meant = branches.filter((issues) => issues.every((issue) => issue.path.length > 0));
  return meant.length === 1 ? meant[0] : undefined;
}

function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '');
}
