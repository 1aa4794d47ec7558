import { createFolderBlobStore } from '../../dist/shared/blobs/folder-blob-store.js';
import { createTurnArtifacts } from '../../dist/worker/publish/turn-artifacts.js';
import { createSkillRunTool } from '../../dist/worker/tools/skill-run.js';
import { SessionFiles } from '../../dist/worker/workspace/snapshot/session-files.js';
import { Workspace } from '../../dist/worker/workspace/workspace.js';

/** @typedef {import('../../dist/worker/executor/executor.js').Executor} Executor */
/** @typedef {import('../../dist/worker/workspace/skill-packs.js').SkillPacks} SkillPacks */
/** @typedef {import('../../dist/worker/tools/tool.js').ToolContext} ToolContext */
/** @typedef {import('../../dist/worker/skills/turn-skills.js').TurnSkills} TurnSkills */

const skillRun = createSkillRunTool({
  allowedCommands: undefined,
  deniedCommands: undefined,
  hostInputs: [],
});

/** What all jobs share. */
export class Bench {
  /** @param {TurnSkills} skills @param {string} dataDir */
  constructor(skills, dataDir) {
    this.skills = skills;
    this.blobs = createFolderBlobStore(dataDir);
  }

  /** A job's own workspace and the `skill_run` that works in it. @param {Executor} executor @param {SkillPacks} packs */
  job(executor, packs) {
    const { skills, blobs } = this;
    const { signal } = new AbortController();
    const ids = { turnId: 'bench', sessionId: 'bench' };
    const limits = { bytes: 2 ** 30, entries: 100_000 };
    const files = new SessionFiles({ base: undefined, inputs: [], blobs, limits, signal });
    const workspace = new Workspace({
      onStepsLost: () => false,
      ...{ executor, packs, skills, files, inputs: [] },
      ...{ job: ids, signal, keeping: signal },
    });
    /** @type {ToolContext} */
    const context = {
      ...{ skills, blobs, workspace, callId: 'bench', signal },
      artifacts: createTurnArtifacts([], () => undefined),
      skillState: { get: refuse, set: refuse },
      toolbox: { names: [], schemasFor: () => [] },
      onOutput: () => undefined,
      onSkillUsed: () => undefined,
      pins: new Map(),
    };
    return {
      /** @param {string} skill @param {string} command */
      async run(skill, command) {
        const { exitCode, error } = await skillRun.run({ skill, command }, context);
        if (exitCode !== 0) throw error ?? new Error(`${command} ended with ${exitCode}`);
      },
      close: () => workspace.close(),
    };
  }
}

/** @returns {never} */
function refuse() {
  throw new Error('skill_run has nothing to do with the state of skills');
}
