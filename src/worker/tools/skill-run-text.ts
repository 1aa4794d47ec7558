import type { SkillRunConfig } from '../../shared/config/config.js';
import { isRestricted } from './skill-run-policy.js';

/** What the model is told of `skill_run`: how commands run depends on what the operator allows. */
export function skillRunText(config: SkillRunConfig): {
  readonly description: string;
  readonly guidance: string;
} {
  const how = isRestricted(config)
    ? `without a shell: one program and its arguments, ${programsOf(config)}`
    : "by bash -c in the skill's folder";
  return {
    description: `Run a command in a skill’s folder${isRestricted(config) ? `, ${how}` : ''}. The user’s files are in $WORK_DIR/inputs; write results to $OUTPUT_DIR. Returns stdout, stderr, exit code and the files that the command changed in out/.`,
    guidance: `Run a skill's scripts with skill_run; commands run ${how}. The user's files are in $WORK_DIR/inputs, work in progress belongs in $WORK_DIR, and results that the user is to get belong in $OUTPUT_DIR. When a command fails, read its stderr and exit code before you try again, and say only what commands really printed or wrote.`,
  };
}

function programsOf({ allowedCommands, deniedCommands }: SkillRunConfig): string {
  const allowed = allowedCommands === undefined ? [] : [`only ${allowedCommands.join(', ')}`];
  const denied = deniedCommands === undefined ? [] : [`not ${deniedCommands.join(', ')}`];
  return [...allowed, ...denied].join(', ');
}
