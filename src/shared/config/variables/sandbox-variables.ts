import { z } from 'zod';
import { absoluteFolders, commandList, whole } from '../env-values.js';
import { variable } from './variable.js';

/** Where commands run, and within what limits. */
export const sandboxVariables = {
  SKILLMILL_EXECUTOR: variable({
    schema: z.enum(['docker', 'local'], 'must be docker or local'),
    default: 'docker',
    description: 'What runs commands: docker (isolated) or local (no isolation, for development)',
  }),
  SKILLMILL_IMAGE: variable({
    schema: z.string().min(1, 'must not be empty'),
    default: 'skillmill/runner:0.1.0',
    description: 'Image of the sandboxes',
  }),
  SKILLMILL_RUNTIME: variable({
    schema: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'must be the name of a runtime'),
    description:
      'Runtime of the sandboxes as the Docker engine knows it, such as runsc (gVisor) or kata (default: the engine’s)',
  }),
  SKILLMILL_NETWORK: variable({
    schema: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/, 'must be none or the name of a Docker network')
      .refine(
        (name) => name !== 'host',
        'must not be host: commands would share the host’s network',
      ),
    default: 'none',
    description:
      'Docker network of the sandboxes; whatever can be reached on it, commands can reach',
  }),
  DOCKER_HOST: variable({
    schema: z
      .string()
      .regex(/^(unix:\/\/\/.+|(tcp|http):\/\/[^/]+)$/, 'must be unix:///path or tcp://host:port'),
    default: 'unix:///var/run/docker.sock',
    description: 'Docker engine',
  }),
  SKILLMILL_SANDBOX_MEMORY_MB: variable({
    schema: whole(64, 1_048_576),
    default: '1024',
    description: 'Memory of a sandbox in MiB, its files included',
  }),
  SKILLMILL_SANDBOX_DISK_MB: variable({
    schema: whole(8, 1_048_576),
    default: '512',
    description: 'Size of a sandbox’s workspace in MiB; less than its memory',
  }),
  SKILLMILL_SANDBOX_CPUS: variable({
    schema: z
      .string()
      .regex(/^\d+(\.\d+)?$/, 'must be a number such as 1 or 0.5')
      .transform(Number)
      .refine((n) => n >= 0.01 && n <= 1024, 'must be from 0.01 to 1024'),
    default: '1',
    description: 'CPUs of a sandbox',
  }),
  SKILLMILL_SANDBOX_PROCESSES: variable({
    schema: whole(16, 100_000),
    default: '256',
    description: 'Processes that a sandbox may hold',
  }),
  SKILLMILL_WORKSPACE_MAX_MB: variable({
    schema: whole(1, 1_048_576),
    default: '512',
    description: 'MiB of files that a session may keep from turn to turn',
  }),
  SKILLMILL_POOL_SIZE: variable({
    schema: whole(0, 1000),
    description:
      'Sandboxes that are kept ready for turns to come; 0 is none (default: twice SKILLMILL_CONCURRENCY)',
  }),
  SKILLMILL_POOL_REFILL: variable({
    schema: whole(1, 64),
    default: '2',
    description: 'Sandboxes that are made ahead at a time',
  }),
  SKILLMILL_POOL_MAX_AGE: variable({
    schema: whole(1, 86_400),
    default: '900',
    description: 'Seconds that a sandbox may wait for a turn before another takes its place',
  }),
  SKILLMILL_ALLOWED_COMMANDS: variable({
    schema: commandList,
    aliases: ['TRPC_AGENT_SKILL_RUN_ALLOWED_COMMANDS'],
    description:
      'Programs that skill_run may start, separated by commas or spaces; commands then run without a shell',
  }),
  SKILLMILL_DENIED_COMMANDS: variable({
    schema: commandList,
    aliases: ['TRPC_AGENT_SKILL_RUN_DENIED_COMMANDS'],
    description:
      'Programs that skill_run may not start, separated by commas or spaces; commands then run without a shell',
  }),
  SKILLMILL_HOST_INPUTS: variable({
    schema: absoluteFolders,
    description:
      'Folders of the worker’s machine that skill_run may copy inputs from (host://), comma-separated; none if not set',
  }),
} as const;
