import { z } from 'zod';
import { onOff, pathList, whole } from '../env-values.js';
import { variable } from './variable.js';

/** Skills, the toolbox, and how both reach the model. */
export const skillVariables = {
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
    schema: onOff,
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
      'Module that exports the tools which skills may make active (made with defineTool), or names MCP servers (defineMcpServer)',
  }),
  SKILLMILL_TOOL_EXPOSURE: variable({
    schema: z.enum(['native', 'dispatch'], 'must be native or dispatch'),
    default: 'native',
    description:
      'How toolbox tools reach the model: in its list of tools, or through the one tool skill_tool',
  }),
} as const;
