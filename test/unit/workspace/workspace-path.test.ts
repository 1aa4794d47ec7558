import fc from 'fast-check';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SkillmillError } from '../../../src/shared/errors/skillmill-error.js';
import {
  expandWorkspaceVariables,
  insideWorkspace,
  resolveWorkingFolder,
} from '../../../src/worker/workspace/workspace-path.js';

const workspaceDir = '/tmp/x/workspace';
const runDir = 'runs/run_0001';
const skillDir = 'skills/demo';
const part = fc.oneof(
  fc.constantFrom('..', '.', '', 'out', 'work', 'skills', 'runs', 'outside', 'a', '**', '{a,..}'),
  fc.constantFrom('$OUTPUT_DIR', '${WORK_DIR}', '$WORKSPACE_DIR', '$RUN_DIR', '$HOME', 'tmp', 'x'),
  fc.string({ maxLength: 5 }),
);
const anyPath = fc
  .tuple(fc.constantFrom('', '/', `${workspaceDir}/`, '//'), fc.array(part, { maxLength: 8 }))
  .map(([start, parts]) => start + parts.join('/'));

/** Below one of the four folders when it is resolved from the workspace, and in its plain form. */
const isInside = (path: string) => {
  const resolved = posix.resolve(workspaceDir, path);
  return (
    ['skills', 'work', 'out', 'runs'].some(
      (top) =>
        resolved === `${workspaceDir}/${top}` || resolved.startsWith(`${workspaceDir}/${top}/`),
    ) && posix.relative(workspaceDir, resolved) === path
  );
};

describe('insideWorkspace', () => {
  it('never gives a path outside the four folders', () => {
    const base = fc.constantFrom('', skillDir);
    fc.assert(
      fc.property(anyPath, base, (path, from) => {
        const found = insideWorkspace(path, { workspaceDir, base: from });
        if (found === undefined) return;
        expect(isInside(found), found).toBe(true);
        expect(found).not.toContain('\0');
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['out/a.txt', 'out/a.txt'],
    ['out', 'out'],
    ['./out//a/../b/', 'out/b'],
    [`${workspaceDir}/work/x`, 'work/x'],
    ['out/{a,b}.txt', 'out/{a,b}.txt'],
    ['out/**', 'out/**'],
  ])('finds %s', (path, found) => {
    expect(insideWorkspace(path, { workspaceDir, base: '' })).toBe(found);
  });

  it.each([
    ...['../x', '../**', '/etc/*', '/', '', '.', 'metadata.json', 'outside/x', 'out/../../x'],
    ...[
      'out\0',
      `${workspaceDir}x/out/a`,
      `${workspaceDir}/../workspace2/out`,
      'scratch/x',
      '~/out',
    ],
  ])('finds nothing for %j', (path) => {
    expect(insideWorkspace(path, { workspaceDir, base: '' })).toBeUndefined();
  });
});

describe('expandWorkspaceVariables', () => {
  it.each([
    ['$OUTPUT_DIR/x', 'out/x'],
    ['${OUTPUT_DIR}/x', 'out/x'],
    ['$WORK_DIR', 'work'],
    ['$SKILLS_DIR/a', 'skills/a'],
    ['$RUNS_DIR', 'runs'],
    ['$RUN_DIR/x', 'runs/run_0001/x'],
    ['$WORKSPACE_DIR/out/x', './out/x'],
    ['$OUTPUT_DIRX/x', '$OUTPUT_DIRX/x'],
    ['$HOME/x', '$HOME/x'],
    ['a/$OUTPUT_DIR', 'a/$OUTPUT_DIR'],
    ['${OUTPUT_DIR/x', '${OUTPUT_DIR/x'],
    ['$OUTPUT_DIR.x', '$OUTPUT_DIR.x'],
    ['${__proto__}/x', '${__proto__}/x'],
    ['', ''],
  ])('%s is %s', (given, expanded) => {
    expect(expandWorkspaceVariables(given, runDir)).toBe(expanded);
  });
});

describe('resolveWorkingFolder', () => {
  const resolve = (cwd: string) => resolveWorkingFolder({ cwd, skillDir, runDir, workspaceDir });

  it.each([
    ['', 'skills/demo'],
    ['.', 'skills/demo'],
    ['scripts', 'skills/demo/scripts'],
    ['./scripts/../a', 'skills/demo/a'],
    ['../other', 'skills/other'],
    ['../../out', 'out'],
    ['$OUTPUT_DIR', 'out'],
    ['${WORK_DIR}/inputs', 'work/inputs'],
    ['$RUN_DIR', 'runs/run_0001'],
    [`${workspaceDir}/out`, 'out'],
  ])('%j is %s', (cwd, folder) => {
    expect(resolve(cwd)).toBe(folder);
  });

  it.each(['..' + '/..', '/', '/etc', '../../..', '$WORK_DIR/../..', '../../outside', 'a\0b'])(
    '%j is refused, with what may be given',
    (cwd) => {
      expect(() => resolve(cwd)).toThrow(SkillmillError);
      expect(() => resolve(cwd)).toThrow('$WORK_DIR');
    },
  );

  it('is never outside the four folders', () => {
    fc.assert(
      fc.property(anyPath, (cwd) => {
        try {
          expect(isInside(resolve(cwd))).toBe(true);
        } catch (error) {
          if (!(error instanceof SkillmillError)) throw error;
        }
      }),
      { numRuns: 2000 },
    );
  });
});
