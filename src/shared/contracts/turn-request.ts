import { z } from 'zod';
import { parseArtifactRef } from './artifact.js';
import { sessionIdSchema } from './ids.js';

const textPart = z.strictObject({ type: z.literal('text'), text: z.string().min(1) });
const imagePart = z.strictObject({
  type: z.literal('image_url'),
  image_url: z.strictObject({
    url: z
      .string()
      .regex(/^(https?:\/\/|data:)/i, 'must be an http(s) URL or a data: URL')
      .describe('An http(s) URL or a data: URL'),
    detail: z.enum(['auto', 'low', 'high']).optional(),
  }),
});

/** What the final answer must be, in the wire form that OpenAI-compatible endpoints take. */
export const responseFormatSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text') }),
  z.strictObject({ type: z.literal('json_object') }),
  z.strictObject({
    type: z.literal('json_schema'),
    json_schema: z.strictObject({
      name: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1–64 of letters, digits, _ and -'),
      description: z.string().max(10_000).optional(),
      schema: z.record(z.string(), z.unknown()),
      strict: z.boolean().optional(),
    }),
  }),
]);
export type ResponseFormat = z.infer<typeof responseFormatSchema>;

/** One part of a user message, in the wire form that OpenAI-compatible endpoints take. */
export const contentPartSchema = z.discriminatedUnion('type', [textPart, imagePart]);
export type ContentPart = z.infer<typeof contentPartSchema>;

/** A relative path with `/` between its parts, each an ordinary name. */
const relativePathSchema = z
  .string()
  .min(1)
  .max(1024)
  .refine(
    isPlainRelativePath,
    'must be a relative path without `..`, backslash or control characters, each part at most 255 bytes',
  );

const fileFields = { path: relativePathSchema.describe('Where it goes, below work/inputs/') };

const fileUrlSchema = z
  .string()
  .max(8192)
  .regex(/^https?:\/\//i, 'must be an http(s) URL')
  .refine((url) => URL.canParse(url), 'must be an http(s) URL')
  .refine(
    (url) => !URL.canParse(url) || hasNoCredentials(new URL(url)),
    'must not hold a user name or password: it is stored and shown',
  )
  .describe('Fetched by the worker before the first model call');

/** A file that is staged under `work/inputs/` before the first command: text, bytes as base64, what a URL gives, or an artifact. */
export const fileInputSchema = z.union(
  [
    z.strictObject({ ...fileFields, content: z.string() }),
    z.strictObject({ ...fileFields, base64: z.base64() }),
    z.strictObject({
      ...fileFields,
      url: fileUrlSchema,
      sha256: z
        .string()
        .regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hexadecimal digits')
        .optional()
        .describe('What the bytes must have'),
    }),
    z.strictObject({
      ...fileFields,
      artifact: z
        .string()
        .max(2048)
        .regex(/^artifact:\/\//, 'must be artifact://name or artifact://name@version')
        .refine(
          (ref) => parseArtifactRef(ref) !== undefined,
          'must be artifact://name or artifact://name@version',
        )
        .describe('Of the session; without a version the last one when the turn starts'),
    }),
  ],
  {
    error:
      'must be { path, content }, { path, base64 }, { path, url, sha256? } or { path, artifact }, with a relative path',
  },
);
export type FileInput = z.infer<typeof fileInputSchema>;

/** The loader is liberal: real names are longer than the specification's 64 characters. */
const skillNameSchema = z.string().min(1).max(255);

/** A skill that the caller wants loaded before the first model call. */
export const skillLoadSchema = z.union([
  skillNameSchema,
  z.strictObject({
    name: skillNameSchema,
    docs: z.union([z.literal('*'), z.array(z.string().min(1)).max(1000)]).optional(),
  }),
]);
export type SkillLoad = z.infer<typeof skillLoadSchema>;

/** Past one of these the turn fails with LIMIT_EXCEEDED; what was done is kept. */
export const turnLimitsSchema = z.strictObject({
  turnTimeoutMs: z.int().min(1).max(86_400_000).optional(),
  maxModelCalls: z.int().min(1).max(1000).optional(),
  maxToolCalls: z.int().min(0).max(10_000).optional(),
  maxTotalTokens: z.int().min(1).optional(),
  maxCostUsd: z
    .number()
    .positive()
    .max(1_000_000_000)
    .optional()
    .describe('Needs a price for the model in the operator’s config'),
});
export type TurnLimits = z.infer<typeof turnLimitsSchema>;

/** Most urgent first; `normal` is the default. */
export const priorities = ['high', 'normal', 'low'] as const;

/** What a caller may ask for (DESIGN §3.1). Unknown keys are refused, so that a misspelt wish is never lost in silence. */
export const turnRequestSchema = z.strictObject({
  sessionId: sessionIdSchema
    .optional()
    .describe('Turns of one session run one at a time, in the order in which they were enqueued'),
  input: z
    .union([z.string().min(1).max(1_000_000), z.array(contentPartSchema).min(1).max(1000)], {
      error: 'must be a text that is not empty, or a list of content parts',
    })
    .describe('The user message'),
  files: z
    .array(fileInputSchema)
    .max(1000)
    .refine(pathsAreDistinct, 'must name each path once, and none as a folder of another')
    .optional(),
  skills: z.array(skillLoadSchema).max(100).optional(),
  allowedSkills: z
    .array(skillNameSchema)
    .max(10_000)
    .optional()
    .describe('Only these skills are visible; another is answered exactly as a missing one'),
  allowedTools: z
    .array(z.string().min(1).max(64))
    .max(10_000)
    .optional()
    .describe('Only these tools of the toolbox may become active'),
  instructions: z.string().max(1_000_000).optional(),
  model: z.string().min(1).max(256).optional(),
  temperature: z.number().min(0).max(2).optional(),
  maxOutputTokens: z.int().min(1).optional(),
  responseFormat: responseFormatSchema
    .optional()
    .describe('The answer is checked against it, and the result carries it as `parsed`'),
  limits: turnLimitsSchema.optional(),
  onBusy: z
    .enum(['queue', 'reject', 'interrupt', 'steer'])
    .optional()
    .describe(
      'When the session has a turn that waits or runs: queue (default) waits for it, reject refuses with SESSION_BUSY, interrupt cancels the running one first, steer adds the message to the running one before its next model call (a request with more than a message is queued)',
    ),
  idempotencyKey: z
    .string()
    .min(1)
    .max(1024)
    .optional()
    .describe('The same key for the same session gives back the first turn, and enqueues nothing'),
  priority: z
    .enum(priorities)
    .optional()
    .describe('Which sessions go first; never moves a turn ahead of an earlier one of its session'),
  delayMs: z
    .int()
    .min(0)
    .max(31_536_000_000)
    .optional()
    .describe('The turn takes its place in the line when so many milliseconds are over'),
  batchId: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,128}$/, 'must be 1 to 128 characters of A-Z a-z 0-9 . _ -')
    .optional()
    .describe('Turns of one batch share the operator’s budget for a batch'),
  metadata: z.record(z.string().min(1).max(128), z.string().max(4096)).optional(),
});
export type TurnRequest = z.infer<typeof turnRequestSchema>;
/** What a caller writes: the same, with plain strings where the contract has branded ones. */
export type TurnRequestInput = z.input<typeof turnRequestSchema>;

/** Is this a relative path whose every part is an ordinary name? Paths from callers and models are never trusted. */
export function isPlainRelativePath(path: string): boolean {
  if (/[\\\u0000-\u001f\u007f]/.test(path)) return false;
  if (!path.isWellFormed() || Buffer.byteLength(path) > 3500) return false;
  return path.split('/').every(isPlainName);
}

function hasNoCredentials({ username, password }: URL): boolean {
  return username === '' && password === '';
}

/** A file system takes 255 bytes a name. */
function isPlainName(part: string): boolean {
  return part !== '' && part !== '.' && part !== '..' && Buffer.byteLength(part) <= 255;
}

/** No path twice, and no path that is a folder of another one. */
function pathsAreDistinct(files: readonly { path: string }[]): boolean {
  const paths = new Set(files.map((file) => file.path));
  const isFolder = (path: string) => [...paths].some((other) => other.startsWith(`${path}/`));
  return paths.size === files.length && ![...paths].some(isFolder);
}
