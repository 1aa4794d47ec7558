import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  checkOperatorConfig,
  readOperatorConfig,
} from '../../../src/shared/config/operator-config.js';
import { tempDir } from '../../support/temp-dir.js';

const variables: Record<string, string> = { MY_TOKEN: 'from-outside' };
const lookUp = (name: string) => variables[name];
const check = (content: unknown) => checkOperatorConfig(content, 'c.json', lookUp);
const entry = (fields: unknown) => ({ skills: { entries: { pdf: fields } } });

describe('the operator’s config', () => {
  it('takes texts and variables of the worker’s own environment', () => {
    const { skillEntries } = check(
      entry({ env: { A: 'a', TOKEN: { fromEnv: 'MY_TOKEN' } }, apiKey: 'key' }),
    );
    expect(skillEntries.get('pdf')).toEqual({
      enabled: true,
      env: { A: 'a', TOKEN: 'from-outside' },
      apiKey: 'key',
    });
    expect(check({})).toMatchObject({ skillEntries: new Map(), isVisible: undefined });
  });

  it.each([
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'DYLD_INSERT_LIBRARIES',
    'BASH_ENV',
    'BASH_FUNC_ls',
    'NODE_OPTIONS',
    'PYTHONSTARTUP',
    'PERL5OPT',
    'GCONV_PATH',
    'GLIBC_TUNABLES',
    'PATH',
    'WORKSPACE_DIR',
    'SKILL_NAME',
    'no-name',
    '',
  ])('refuses to set %s', (name) => {
    expect(() => check(entry({ env: { [name]: 'secret-value' } }))).toThrow(
      `skills.entries.pdf.env.${name}`,
    );
  });

  it('tells all faults at once, and no value', () => {
    const fault = (content: unknown) => {
      try {
        check(content);
      } catch (error) {
        return String(error);
      }
      return '';
    };
    const told = fault(
      entry({ env: { LD_PRELOAD: 's3cret-1', X: { fromEnv: 'NOT_SET' }, Y: 'nul\0s3cret-2' } }),
    );
    expect(told).toContain('env.LD_PRELOAD: would change what programs load');
    expect(told).toContain('env.X: names a variable that is not set');
    expect(told).toContain('env.Y: must not hold a NUL');
    expect(told).not.toContain('s3cret');
    const shapes = fault({ ...entry({ enabled: 'no', env: { A: 7 }, key: 's3cret' }), more: 1 });
    expect(shapes).toContain('skills.entries.pdf.enabled: must be true or false');
    expect(shapes).toContain('skills.entries.pdf.env.A: must be a text or');
    expect(shapes).toContain('skills.entries.pdf.key: is not a known field');
    expect(shapes).toContain('more: is not a known field');
    expect(shapes).not.toContain('s3cret');
  });
});

describe('the operator’s config file', () => {
  it('may be JSON or a module', async () => {
    const dir = await tempDir();
    const json = join(dir, 'a.json');
    await writeFile(json, JSON.stringify(entry({ enabled: false })));
    const module = join(dir, 'b.mjs');
    await writeFile(
      module,
      'export default { skills: { isVisible: (skill) => skill.name > "m" } };',
    );
    expect((await readOperatorConfig(json, lookUp)).skillEntries.get('pdf')?.enabled).toBe(false);
    const { isVisible } = await readOperatorConfig(module, lookUp);
    const turn = { tenant: 't', sessionId: 's', turnId: 'x', metadata: {} };
    expect(isVisible?.({ name: 'z', description: '' }, turn)).toBe(true);
    expect(isVisible?.({ name: 'a', description: '' }, turn)).toBe(false);
  });

  it('is refused without a word of what it holds', async () => {
    const dir = await tempDir();
    const file = join(dir, 'broken.json');
    await writeFile(file, '{"skills": {"entries": {"pdf": {"apiKey": "s3cret" oops');
    const fault = await readOperatorConfig(file, lookUp).catch(String);
    expect(fault).toContain('it is no JSON (');
    expect(fault).not.toMatch(/s3cret|oops/);
    await expect(readOperatorConfig(join(dir, 'none.json'), lookUp)).rejects.toThrow('ENOENT');
  });
});
