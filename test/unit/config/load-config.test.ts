import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { checkWorkerConfig } from '../../../src/shared/config/check-worker-config.js';
import type { Config } from '../../../src/shared/config/config.js';
import { loadConfig } from '../../../src/shared/config/load-config.js';
import { SkillmillError } from '../../../src/shared/errors/skillmill-error.js';
import { projectDir } from '../../support/cli.js';
import { tempDir } from '../../support/temp-dir.js';

const model = { OPENAI_MODEL: 'm', OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'https://api.example/v1' };

function complaint(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(SkillmillError);
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', exitCode: 2 });
    return (error as SkillmillError).message;
  }
  throw new Error('nothing was wrong');
}

interface Loaded {
  readonly config?: Config;
  readonly error?: string;
}

/** Loads the configuration in a process of its own, in a folder with this `.env` and exactly this environment. */
async function loadIn(dotEnv: string, env: Record<string, string>): Promise<Loaded> {
  const dir = await tempDir();
  await writeFile(join(dir, '.env'), dotEnv);
  const module = join(projectDir, 'dist', 'shared', 'config', 'load-config.js');
  const script = `import(${JSON.stringify(module)}).then(({ loadConfig }) => {
    try { console.log(JSON.stringify({ config: loadConfig() })); }
    catch (error) { console.log(JSON.stringify({ error: error.message })); }
  })`;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { cwd: dir, env });
  return JSON.parse(stdout) as Loaded;
}

describe('loadConfig', () => {
  it('names every wrong variable at once, with what it holds and may hold', () => {
    const said = complaint(() =>
      loadConfig({
        REDIS_URL: 'http://x',
        SKILLMILL_CONCURRENCY: '0',
        SKILLMILL_EXECUTOR: 'podman',
        SKILLMILL_SANDBOX_CPUS: 'many',
        SKILLMILL_TENANT: 'A B',
        DOCKER_HOST: 'here',
        SKILLS_ROOT: 'https://x/skills.zip',
        SKILLMILL_LOG_LEVEL: 'loud',
      }),
    );
    for (const [name, held, may] of [
      ['REDIS_URL', '"http://x"', 'redis://'],
      ['SKILLMILL_CONCURRENCY', '"0"', 'a whole number from 1 to 1000'],
      ['SKILLMILL_EXECUTOR', '"podman"', 'docker or local'],
      ['SKILLMILL_SANDBOX_CPUS', '"many"', 'a number such as 1 or 0.5'],
      ['SKILLMILL_TENANT', '"A B"', 'a-z 0-9 -'],
      ['DOCKER_HOST', '"here"', 'unix:///path'],
      ['SKILLS_ROOT', '"https://x/skills.zip"', 'folders'],
      ['SKILLMILL_LOG_LEVEL', '"loud"', 'debug, info, warn, error or silent'],
    ]) {
      expect(said).toContain(`${name ?? ''}: holds ${held ?? ''}, but it must`);
      expect(said).toContain(may);
    }
  });

  it.each(['-1', '1.5', '1e3', ' 5', '5 ', '0x5', '1001', '', '9'.repeat(20)].filter(Boolean))(
    'takes no concurrency %j',
    (text) => {
      expect(complaint(() => loadConfig({ SKILLMILL_CONCURRENCY: text }))).toContain('CONCURRENCY');
    },
  );

  it('takes an empty variable for one that is not set', () => {
    const { worker, store } = loadConfig({ SKILLMILL_CONCURRENCY: '', SKILLMILL_TENANT: '' });
    expect(worker.concurrency).toBe(4);
    expect(store.tenant).toBe('default');
  });

  it('understands the names of tRPC-Agent, and its own first', () => {
    const alias = { TRPC_AGENT_MODEL_NAME: 'old', TRPC_AGENT_API_KEY: 'key' };
    expect(loadConfig(alias).model).toMatchObject({ models: ['old'], apiKey: 'key' });
    expect(loadConfig({ ...alias, OPENAI_MODEL: 'new' }).model.models).toEqual(['new']);
    expect(loadConfig({ ...alias, OPENAI_MODEL: '' }).model.models).toEqual(['old']);
  });

  it('names an alias by the name that was used', () => {
    expect(complaint(() => loadConfig({ TRPC_AGENT_BASE_URL: 'ftp://x' }))).toContain(
      'TRPC_AGENT_BASE_URL: holds "ftp://x"',
    );
  });

  it('turns seconds into milliseconds and MiB into bytes, and splits lists', () => {
    const config = loadConfig({
      ...{ SKILLMILL_MODEL_TIMEOUT: '2', SKILLMILL_SANDBOX_MEMORY_MB: '64' },
      ...{ REDIS_URL: 'redis://a:1, rediss://b:2', SKILLS_ROOT: 'x, ,y,' },
    });
    expect(config.model.timeoutMs).toBe(2000);
    expect(config.executor.memoryBytes).toBe(67_108_864);
    expect(config.store.redisUrls).toEqual(['redis://a:1', 'rediss://b:2']);
    expect(config.skills.roots).toEqual(['x', 'y']);
  });
});

describe('passwords', () => {
  it.each([
    ['REDIS_URL', 'http://user:s3cret@host:6379'],
    ['REDIS_URL', 'redis://a:1,http://:s3cret@host'],
    ['OPENAI_BASE_URL', 'ftp://me:s3cret@host/v1'],
    ['OPENAI_BASE_URL', 'https://me:s3cret@'],
  ])('of %s are not shown: %s', (name, text) => {
    expect(complaint(() => loadConfig({ [name]: text }))).not.toContain('s3cret');
  });

  it.each(['redis://:s3cret/x@host:6379', 'http://:p@s3cret@host'])(
    'are not shown when they are written wrongly: %s',
    (text) => {
      expect(complaint(() => loadConfig({ REDIS_URL: text }))).not.toContain('s3cret');
    },
  );

  it.each(['user:s3cret@host:6379', 'redis:/user:s3cret@host'])(
    'are not shown when the scheme is written wrongly: %s',
    (text) => {
      expect(complaint(() => loadConfig({ REDIS_URL: text }))).not.toContain('s3cret');
    },
  );
});

describe('.env', () => {
  it('is read under the environment', async () => {
    const text = 'OPENAI_MODEL="from file"\nSKILLMILL_TENANT=file # why\nSKILLMILL_CONCURRENCY=7\n';
    const { config } = await loadIn(text, { SKILLMILL_TENANT: 'env', SKILLMILL_CONCURRENCY: '' });
    expect(config?.model.models).toEqual(['from file']);
    expect(config?.store.tenant).toBe('env');
    expect(config?.worker.concurrency).toBe(7);
  });

  it('is checked as the environment is', async () => {
    const { error } = await loadIn('SKILLMILL_CONCURRENCY=lots\n', {});
    expect(error).toContain('SKILLMILL_CONCURRENCY: holds "lots"');
  });

  it('takes an empty variable for one that is not set', async () => {
    expect(await loadIn('OPENAI_API_KEY=\nSKILLMILL_CONCURRENCY=\n', {})).toMatchObject({
      config: { worker: { concurrency: 4 } },
    });
  });
});

describe('checkWorkerConfig', () => {
  it('is content with a model, a key, and room beside the disk', () => {
    checkWorkerConfig(loadConfig(model));
    checkWorkerConfig(loadConfig({ ...model, OPENAI_API_KEY: '' }));
  });

  it('names all that a worker lacks at once', () => {
    const said = complaint(() =>
      checkWorkerConfig(
        loadConfig({ SKILLMILL_SANDBOX_MEMORY_MB: '100', SKILLMILL_SANDBOX_DISK_MB: '53' }),
      ),
    );
    expect(said).toContain('OPENAI_MODEL');
    expect(said).toContain('OPENAI_API_KEY');
    expect(said).toContain('SKILLMILL_SANDBOX_MEMORY_MB');
  });
});

it('takes hosts as they are compared, and names what is none', () => {
  const { inputs } = loadConfig({ ...model, SKILLMILL_INPUT_ALLOW_HOSTS: 'Files:8080, 0x7f.1' });
  expect(inputs).toEqual({
    allowHosts: ['files:8080', '127.0.0.1'],
    maxFileBytes: 64 * 1024 * 1024,
  });
  const wrong = () => loadConfig({ ...model, SKILLMILL_INPUT_ALLOW_HOSTS: 'http://files' });
  expect(complaint(wrong)).toContain(
    'SKILLMILL_INPUT_ALLOW_HOSTS: holds "http://files", but it must be hosts',
  );
});
