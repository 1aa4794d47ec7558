import { expect, it } from 'vitest';
import { variableList } from '../../src/shared/config/env-schema.js';

// [name, default, aliases]
const pinned: [string, string | undefined, string[]][] = [
  ['REDIS_URL', 'redis://127.0.0.1:6379', []],
  ['SKILLMILL_TENANT', 'default', []],
  ['SKILLMILL_DATA_DIR', undefined, []],
  ['SKILLMILL_RESULT_TTL', '604800', []],
  ['SKILLMILL_SESSION_TTL', '2592000', []],
  ['OPENAI_API_KEY', undefined, ['TRPC_AGENT_API_KEY']],
  ['OPENAI_BASE_URL', 'https://api.openai.com/v1', ['TRPC_AGENT_BASE_URL']],
  ['OPENAI_MODEL', undefined, ['TRPC_AGENT_MODEL_NAME']],
  ['SKILLMILL_STREAM', '1', []],
  ['SKILLMILL_CONTEXT_TOKENS', '0', []],
  ['SKILLMILL_CONTEXT_OVERFLOW', 'drop', []],
  ['SKILLMILL_MODEL_TIMEOUT', '600', []],
  ['SKILLMILL_MODEL_IDLE_TIMEOUT', '120', []],
  ['SKILLS_ROOT', './skills', []],
  ['SKILLMILL_CONFIG', undefined, []],
  ['SKILLMILL_SKILLS_FROZEN', '0', []],
  ['SKILLMILL_SKILLS_LOCK', 'skills.lock.json', []],
  ['SKILLMILL_SKILL_MODE', 'turn', []],
  ['SKILLMILL_SKILL_CONTENT', 'tool', []],
  ['SKILLMILL_SKILL_PROFILE', 'full', []],
  ['SKILLMILL_MAX_LOADED_SKILLS', '0', []],
  ['SKILLMILL_OVERVIEW_TOKENS', '16000', []],
  ['SKILLMILL_SKILL_BODY_TOKENS', '20000', []],
  ['SKILLMILL_SKILL_DOC_TOKENS', '20000', []],
  ['SKILLMILL_TOOLBOX', undefined, []],
  ['SKILLMILL_TOOL_EXPOSURE', 'native', []],
  ['SKILLMILL_EXECUTOR', 'docker', []],
  ['SKILLMILL_IMAGE', 'skillmill/runner:0.1.0', []],
  ['SKILLMILL_RUNTIME', undefined, []],
  ['SKILLMILL_NETWORK', 'none', []],
  ['DOCKER_HOST', 'unix:///var/run/docker.sock', []],
  ['SKILLMILL_SANDBOX_MEMORY_MB', '1024', []],
  ['SKILLMILL_SANDBOX_DISK_MB', '512', []],
  ['SKILLMILL_SANDBOX_CPUS', '1', []],
  ['SKILLMILL_SANDBOX_PROCESSES', '256', []],
  ['SKILLMILL_POOL_SIZE', undefined, []],
  ['SKILLMILL_POOL_REFILL', '2', []],
  ['SKILLMILL_POOL_MAX_AGE', '900', []],
  ['SKILLMILL_ALLOWED_COMMANDS', undefined, ['TRPC_AGENT_SKILL_RUN_ALLOWED_COMMANDS']],
  ['SKILLMILL_DENIED_COMMANDS', undefined, ['TRPC_AGENT_SKILL_RUN_DENIED_COMMANDS']],
  ['SKILLMILL_HOST_INPUTS', undefined, []],
  ['SKILLMILL_CONCURRENCY', '4', []],
  ['SKILLMILL_TURN_TIMEOUT', '900', []],
  ['SKILLMILL_MAX_MODEL_CALLS', '30', []],
  ['SKILLMILL_LAST_CHANCE', '1', []],
  ['SKILLMILL_MAX_TOOL_CALLS', '100', []],
  ['SKILLMILL_SHUTDOWN_GRACE', '60', []],
  ['SKILLMILL_LOG_LEVEL', 'info', []],
];

it('names, defaults and aliases of the environment’s variables', () => {
  const actual = variableList.map(([name, variable]) => [
    name,
    variable.default,
    [...(variable.aliases ?? [])],
  ]);
  expect(actual).toEqual(pinned);
});
