/** Where the folders of a sandbox's commands are: named for the time, so that those of another sandbox of the session have other
 *  names. */
export function runsOf(createdAt: Date): string {
  return `runs/run_${createdAt.toISOString().replace(/[-:.]/g, '')}`;
}

/** The folder of the n-th command, counted from 1; a container's supervisor, which makes it ahead, writes it in the same way. */
export function runDirOf(runs: string, command: number): string {
  return `${runs}_${String(command).padStart(4, '0')}`;
}

/** Is this path such a folder? */
export function isRunDir(path: string): boolean {
  return /^runs\/run_\d{8}T\d{9}Z_\d{4,}$/.test(path);
}
