import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SkillmillError } from '../../../src/shared/errors/skillmill-error.js';
import { createRedactor } from '../../../src/shared/logging/redactor.js';
import { defineTool } from '../../../src/worker/toolbox/define-tool.js';
import {
  checkToolbox,
  loadToolbox,
  type LoadedToolbox,
} from '../../../src/worker/toolbox/load-toolbox.js';
import { openToolbox } from '../../../src/worker/toolbox/toolbox.js';
import { tempDir } from '../../support/temp-dir.js';

const tool = (name: string, parameters: z.ZodObject = z.object({})) =>
  defineTool({ name, description: `does ${name}`, parameters, execute: () => name });

const open = (loaded: LoadedToolbox) =>
  openToolbox(loaded, {
    ...{ log: () => undefined, redact: createRedactor([]), lookUp: () => undefined },
  });
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => 'it did not fail',
    (error: unknown) => (error instanceof SkillmillError ? error.toPublic() : String(error)),
  );

/** A module of an operator's, whose tools are marked as those of another copy of the package are. */
async function moduleOf(text: string): Promise<string> {
  const path = join(await tempDir(), 'toolbox.mjs');
  const make = `const mark = Symbol.for('skillmill.toolbox.tool');
const tool = (name) => ({ [mark]: true, name, description: '', parameters: {}, run: () => name });`;
  await writeFile(path, `${make}\n${text}`);
  return path;
}
const namesIn = async (text: string) =>
  (await loadToolbox(await moduleOf(text))).tools.map(({ name }) => name);

describe('loadToolbox', () => {
  it('finds tools by themselves, in lists and in the default export, each once', async () => {
    const names = await namesIn(`
      export const one = tool('one');
      export const more = [tool('two'), one, 'no tool', null];
      export const setting = { name: 'no tool' };
      export default [tool('three'), one];`);
    expect(names.sort()).toEqual(['one', 'three', 'two']);
    expect(await namesIn(`export const a = tool('a'); export default a;`)).toEqual(['a']);
  });

  it('has nothing when no module is named', async () => {
    expect(await loadToolbox(undefined)).toMatchObject({ tools: [], servers: [], faults: [] });
  });

  it('says that a module exports no tool', async () => {
    const { faults } = await loadToolbox(await moduleOf('export const x = 1;'));
    expect(faults).toEqual([expect.stringContaining('defineTool')]);
  });

  it.each([
    ['is not there', undefined],
    ['throws', 'throw new Error("the database is away");'],
    ['is no JavaScript', 'export const = 5;'],
  ])('refuses a module that %s, naming it', async (_, text) => {
    const path = text === undefined ? join(await tempDir(), 'none.mjs') : await moduleOf(text);
    const failure = await failureOf(loadToolbox(path));
    expect(failure).toMatchObject({ code: 'CONFIG_INVALID' });
    expect(failure).toHaveProperty('message', expect.stringContaining(`SKILLMILL_TOOLBOX ${path}`));
  });
});

describe('the faults of a toolbox', () => {
  it('are told all at once', async () => {
    const names = ['good', 'two words', 'skill_run', '', 'x'.repeat(65), 'twice', 'twice'];
    const loaded = checkToolbox(
      'box.js',
      names.map((name) => tool(name)),
      [],
    );
    expect(await failureOf(open(loaded))).toEqual({
      ...{ code: 'CONFIG_INVALID', retryable: false },
      message: `SKILLMILL_TOOLBOX box.js: "two words" is no name for a tool; skill_run: names that begin with skill_ are taken; "" is no name for a tool; "${'x'.repeat(65)}" is no name for a tool; twice is there twice.`,
    });
  });

  it.each(['a', 'A-9_z', 'x'.repeat(64), 'skillful'])('are none in a name such as %s', (name) => {
    expect(checkToolbox('box.js', [tool(name)], []).faults).toEqual([]);
  });

  it('name a tool whose parameters no JSON Schema can tell', async () => {
    const dated = tool('dated', z.object({ on: z.date() }));
    const failure = await failureOf(open(checkToolbox('box.js', [tool('good'), dated], [])));
    expect(failure).toMatchObject({ code: 'CONFIG_INVALID' });
    expect(failure).toHaveProperty('message', expect.stringContaining('dated'));
  });
});

it('an open toolbox has its tools by name, in the order of the module', async () => {
  const names = ['zebra', 'ant', 'mole'];
  const opened = await open(
    checkToolbox(
      'box.js',
      names.map((name) => tool(name)),
      [],
    ),
  );
  expect([...opened.current().keys()]).toEqual(names);
  expect(opened.current().get('ant')?.definition).toMatchObject({ description: 'does ant' });
  await opened.close();
});
