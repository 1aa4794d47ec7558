import { z } from 'zod';
import { defaultTenant, tenantSchema } from '../contracts/index.js';
import { pathList, redisUrls, seconds, timerSeconds, url, whole } from './env-values.js';

/** One environment variable: what it may hold, its default (text, as one would write it) and one line for people. */
export interface Variable {
  readonly schema: z.ZodType;
  readonly default?: string;
  readonly description: string;
  /** Other names that are understood as well, for set-ups that move over. */
  readonly aliases?: readonly string[];
  /** Never printed. */
  readonly secret?: boolean;
}

const variable = <Definition extends Variable>(definition: Definition): Definition => definition;

/** Every variable that skillmill reads (DESIGN §3.6). README's table and `--help` are made from this. */
export const variables = {
  REDIS_URL: variable({
    schema: redisUrls,
    default: 'redis://127.0.0.1:6379',
    description: 'Redis; several comma-separated URLs are the nodes of a Redis Cluster',
  }),
  OPENAI_API_KEY: variable({
    schema: z.string().min(1, 'must not be empty'),
    aliases: ['TRPC_AGENT_API_KEY'],
    description: 'Key of the model endpoint; may be left out when OPENAI_BASE_URL needs none',
    secret: true,
  }),
  OPENAI_BASE_URL: variable({
    schema: url(['http:', 'https:']),
    default: 'https://api.openai.com/v1',
    aliases: ['TRPC_AGENT_BASE_URL'],
    description: 'OpenAI-compatible endpoint',
  }),
  OPENAI_MODEL: variable({
    schema: z.string().min(1, 'must not be empty'),
    aliases: ['TRPC_AGENT_MODEL_NAME'],
    description: 'Model that a turn uses unless it names one',
  }),
  SKILLS_ROOT: variable({
    schema: pathList,
    default: './skills',
    description: 'Folders with skills, comma-separated; the first skill of a name wins',
  }),
  SKILLMILL_CONFIG: variable({
    schema: z.string().min(1, 'must not be empty'),
    description:
      'The operator’s config file (default: skillmill.config.json, .js, .mjs or .ts in the working folder, if there is one)',
  }),
  SKILLMILL_SKILLS_FROZEN: variable({
    schema: z.enum(['0', '1'], 'must be 0 or 1').transform((text) => text === '1'),
    default: '0',
    description: '1 refuses every skill that is not as the skills lock says',
  }),
  SKILLMILL_SKILLS_LOCK: variable({
    schema: z.string().min(1, 'must not be empty'),
    default: 'skills.lock.json',
    description: 'The skills lock, which `skillmill skills lock` writes',
  }),
  SKILLMILL_SKILL_MODE: variable({
    schema: z.enum(['turn', 'session', 'once'], 'must be turn, session or once'),
    default: 'turn',
    description:
      'How long a loaded skill stays: until the next turn, for the session, or for one request',
  }),
  SKILLMILL_SKILL_CONTENT: variable({
    schema: z.enum(['tool', 'system'], 'must be tool or system'),
    default: 'tool',
    description:
      'Where loaded skills stand: in the tool result that brought them (keeps the prompt’s prefix) or in the system message',
  }),
  SKILLMILL_SKILL_PROFILE: variable({
    schema: z.enum(['full', 'knowledge_only'], 'must be full or knowledge_only'),
    default: 'full',
    description: 'What the model may do with skills: also run them, or only read them',
  }),
  SKILLMILL_MAX_LOADED_SKILLS: variable({
    schema: whole(0, 10_000),
    default: '0',
    description: 'Skills that may be loaded at once; the least recently used goes; 0 is no limit',
  }),
  SKILLMILL_OVERVIEW_TOKENS: variable({
    schema: whole(100, 10_000_000),
    default: '16000',
    description: 'Tokens for the list of skills that every request carries',
  }),
  SKILLMILL_SKILL_BODY_TOKENS: variable({
    schema: whole(100, 10_000_000),
    default: '20000',
    description: 'Tokens for the instructions of one loaded skill',
  }),
  SKILLMILL_SKILL_DOC_TOKENS: variable({
    schema: whole(100, 10_000_000),
    default: '20000',
    description: 'Tokens for one document of a skill',
  }),
  SKILLMILL_TOOLBOX: variable({
    schema: z.string().min(1, 'must not be empty'),
    description:
      'Module that exports the tools which skills may make active (made with defineTool)',
  }),
  SKILLMILL_TOOL_EXPOSURE: variable({
    schema: z.enum(['native', 'dispatch'], 'must be native or dispatch'),
    default: 'native',
    description:
      'How toolbox tools reach the model: in its list of tools, or through the one tool skill_tool',
  }),
  SKILLMILL_TENANT: variable({
    schema: tenantSchema,
    default: defaultTenant,
    description: 'Whose turns a client sees: the same session id under two tenants is two sessions',
  }),
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
  DOCKER_HOST: variable({
    schema: z
      .string()
      .regex(/^(unix:\/\/\/.+|(tcp|http):\/\/[^/]+)$/, 'must be unix:///path or tcp://host:port'),
    default: 'unix:///var/run/docker.sock',
    description: 'Docker engine',
  }),
  SKILLMILL_CONCURRENCY: variable({
    schema: whole(1, 1000),
    default: '4',
    description: 'Turns that one worker runs at a time',
  }),
  SKILLMILL_DATA_DIR: variable({
    schema: z.string().min(1, 'must not be empty'),
    description:
      'Folder for files over 256 KiB, shared by clients and workers (default: skillmill in XDG_DATA_HOME)',
  }),
  SKILLMILL_MODEL_TIMEOUT: variable({
    schema: timerSeconds,
    default: '120',
    description: 'Seconds that one model call may take',
  }),
  SKILLMILL_TURN_TIMEOUT: variable({
    schema: timerSeconds,
    default: '900',
    description: 'Seconds that a turn may take unless it sets its own limit',
  }),
  SKILLMILL_MAX_MODEL_CALLS: variable({
    schema: whole(1, 1000),
    default: '30',
    description: 'Model calls that a turn may make unless it sets its own limit',
  }),
  SKILLMILL_MAX_TOOL_CALLS: variable({
    schema: whole(0, 10_000),
    default: '100',
    description: 'Tool calls that a turn may make unless it sets its own limit',
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
  SKILLMILL_SHUTDOWN_GRACE: variable({
    schema: whole(0, 86_400),
    default: '60',
    description: 'Seconds that running turns get to finish after SIGTERM',
  }),
  SKILLMILL_RESULT_TTL: variable({
    schema: seconds,
    default: '604800',
    description: 'Seconds that a result, its events and its small files are kept',
  }),
  SKILLMILL_SESSION_TTL: variable({
    schema: seconds,
    default: '2592000',
    description: 'Seconds that a session is kept after its last turn',
  }),
  SKILLMILL_LOG_LEVEL: variable({
    schema: z.enum(
      ['debug', 'info', 'warn', 'error', 'silent'],
      'must be debug, info, warn, error or silent',
    ),
    default: 'info',
    description: 'What a worker logs, as JSON lines on stderr',
  }),
} as const;

export type VariableName = keyof typeof variables;

/** The parsed environment: what has a default is always there. */
export type Environment = {
  readonly [Name in VariableName]: (typeof variables)[Name] extends { default: string }
    ? z.output<(typeof variables)[Name]['schema']>
    : z.output<(typeof variables)[Name]['schema']> | undefined;
};

/** The same table as a list, in its order. */
export const variableList: readonly (readonly [string, Variable])[] =
  Object.entries<Variable>(variables);
