import { SkillmillError } from '../../shared/errors/skillmill-error.js';

const MAX_REASON_LENGTH = 600;

/** The error for files that found no place because of what lies in the workspace: commands can undo that, and the sandbox is
 *  as good as before. */
export function putFailed(reason: string, diskFull: boolean, cause?: unknown): SkillmillError {
  const why = reason.trim().slice(0, MAX_REASON_LENGTH);
  return diskFull
    ? new SkillmillError(
        'LIMIT_EXCEEDED',
        `The sandbox’s disk is full: delete files in it that are no longer needed (${why})`,
        { cause },
      )
    : new SkillmillError(
        'TOOL_FAILED',
        `Files cannot be put into the workspace, since what lies there is in the way, may not be written, or their names are too long; a command can move, remove or chmod it (${why})`,
        { cause },
      );
}
