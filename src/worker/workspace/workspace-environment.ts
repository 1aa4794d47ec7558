import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import { workspaceFolders } from './workspace-path.js';

/** Files of finished commands are lost with their sandbox. */
export function stepsLost(cause: unknown): SkillmillError {
  return new SkillmillError(
    'SANDBOX_UNAVAILABLE',
    'The sandbox was lost before what its finished commands had left was kept; they are run again from the files before them.',
    { cause },
  );
}

/** WORKSPACE_DIR and its kin. */
export function environmentOf(root: string, runDir: string, skill: string): Record<string, string> {
  return {
    WORKSPACE_DIR: root,
    SKILLS_DIR: `${root}/${workspaceFolders.SKILLS_DIR}`,
    WORK_DIR: `${root}/${workspaceFolders.WORK_DIR}`,
    OUTPUT_DIR: `${root}/${workspaceFolders.OUTPUT_DIR}`,
    RUN_DIR: `${root}/${runDir}`,
    SKILL_NAME: skill,
  };
}
