import type { SandboxJob } from '../executor.js';

/** Whose sandboxes these are: the worker that made them and the deployment (its Redis) that the worker serves. */
export interface SandboxOwner {
  readonly owner: string;
  readonly deployment: string;
}

/** The labels by which a sandbox is found again; a container's labels cannot be changed after it was made. */
export const labelNames = {
  owner: 'skillmill.owner',
  deployment: 'skillmill.deployment',
  turn: 'skillmill.turn',
  session: 'skillmill.session',
  created: 'skillmill.created',
  expires: 'skillmill.expires',
} as const;

/** The labels of a sandbox made at the given time, to be removed by whoever sees it after its lifetime. One that is made ahead
 *  serves no job yet. */
export function sandboxLabels(
  made: SandboxOwner,
  job: SandboxJob | undefined,
  createdAt: Date,
  lifetimeMs: number,
): Record<string, string> {
  return {
    [labelNames.owner]: made.owner,
    [labelNames.deployment]: made.deployment,
    ...(job && { [labelNames.turn]: job.turnId, [labelNames.session]: job.sessionId }),
    [labelNames.created]: createdAt.toISOString(),
    [labelNames.expires]: new Date(createdAt.getTime() + lifetimeMs).toISOString(),
  };
}

/** Is a sandbox with these labels past its time? One without a readable expiry never is. */
export function isExpired(labels: Readonly<Record<string, string>>, now: Date): boolean {
  return Date.parse(labels[labelNames.expires] ?? '') <= now.getTime();
}
