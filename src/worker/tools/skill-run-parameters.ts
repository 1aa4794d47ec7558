import { z } from 'zod';
import { environmentNameRule } from '../../shared/config/environment-name.js';
import { artifactNameFault } from './skill-run-artifact-name.js';

/** A command's time when the call names none, as in tRPC-Agent. */
export const defaultTimeoutSeconds = 300;
const maxTimeoutSeconds = 86_400;

const noNul = (text: string) => !text.includes('\0');
const textWithoutNul = z.string().refine(noNul, 'must not hold a NUL character');

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Fields without those that are null or empty: models say so that they give none. */
function given(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== ''),
  );
}

/** One value for a list of one. */
const asList = (value: unknown) =>
  typeof value === 'string' || isFields(value) ? (value === '' ? [] : [value]) : value;

/** tRPC-Agent-Go calls them `from` and `to`. */
function asInput(value: unknown): unknown {
  if (typeof value === 'string') return { src: value };
  if (!isFields(value)) return value;
  const { from, to, ...fields } = given(value);
  return {
    ...(from === undefined ? {} : { src: from }),
    ...(to === undefined ? {} : { dst: to }),
    ...fields,
  };
}

const inputSchema = z.preprocess(
  asInput,
  z.object({
    src: z
      .string()
      .min(1)
      .max(4096)
      .describe('artifact://NAME[@VERSION], workspace://PATH, skill://NAME/PATH or host://PATH'),
    dst: textWithoutNul
      .max(4096)
      .default('')
      .describe('Path below work/, out/ or runs/; default: work/inputs/ and its own name'),
    mode: z
      .enum(['copy', 'link'])
      .default('copy')
      .describe('link: a link instead of a copy, where that can be'),
    pin: z
      .boolean()
      .default(false)
      .describe('Keep to the version of the artifact that this session pinned first'),
  }),
);

const globs = z.preprocess(asList, z.array(z.string().min(1).max(512)).max(100));
const artifactName = z.string().superRefine((name, context) => {
  const fault = artifactNameFault(name);
  if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
});
/** As in tRPC-Agent 0 is no limit but the operator's own. */
const limit = z
  .int()
  .min(0)
  .transform((count) => (count === 0 ? undefined : count));

const outputsSchema = z.preprocess(
  (value) => (isFields(value) ? given(value) : value === '' ? {} : { globs: asList(value) }),
  z.object({
    globs: globs.optional().describe('As output_files'),
    max_files: limit.optional().describe('At most 100'),
    max_file_bytes: limit.optional().describe('A larger file is left out; at most 64 MiB'),
    max_total_bytes: limit.optional().describe('At most 64 MiB'),
    save: z.boolean().optional().describe('Keep the files as artifacts'),
    name_template: artifactName
      .optional()
      .describe('Artifact names: {name}, {dir}, {base}, {stem}, {ext}; without any it is a prefix'),
    inline: z.boolean().optional().describe('Give the text of the files in the manifest'),
  }),
);

/** What `skill_run` takes; names are tRPC-Agent's. */
export const skillRunParameters = z.object({
  skill: z.string().trim().min(1).max(255).describe('Name of the skill'),
  command: textWithoutNul.min(1).describe('Command, run in the skill’s folder'),
  cwd: z
    .string()
    .optional()
    .describe('Working folder: relative to the skill’s, or below $WORK_DIR, $OUTPUT_DIR, $RUN_DIR'),
  env: z
    .record(
      z.string().regex(environmentNameRule, 'must be a variable name'),
      z.string().refine(noNul),
    )
    .optional()
    .describe('Environment variables'),
  stdin: z.string().optional().describe('Text for standard input'),
  editor_text: textWithoutNul
    .optional()
    .describe('Text that a program gets which starts $EDITOR, such as git commit'),
  inputs: z
    .preprocess(asList, z.array(inputSchema).max(100))
    .optional()
    .describe('Files and folders to put into the workspace before the command'),
  output_files: globs
    .optional()
    .describe(
      'Globs of files to return, such as out/*.csv; default: what the command changed in out/',
    ),
  outputs: outputsSchema
    .optional()
    .describe('Files to return with limits and names of their own; the result has a manifest'),
  timeout: z
    .number()
    .min(0)
    .max(maxTimeoutSeconds)
    .optional()
    .describe(`Seconds; 0 or absent: ${defaultTimeoutSeconds}`),
  save_as_artifacts: z
    .boolean()
    .optional()
    .describe('Keep the returned files as artifacts; those in out/ always are'),
  artifact_prefix: artifactName.optional().describe('Put before the names of artifacts'),
  omit_inline_content: z.boolean().optional().describe('Return files without their text'),
});

/** A call's arguments, checked. */
export type SkillRunArguments = z.output<typeof skillRunParameters>;
/** What a call says of its outputs. */
export type OutputsSpec = NonNullable<SkillRunArguments['outputs']>;
