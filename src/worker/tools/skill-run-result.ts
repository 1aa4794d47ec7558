import type { CommandResult } from '../executor/command.js';
import type { StagedInput } from '../workspace/command-inputs.js';
import type { CollectedFile } from '../workspace/output-collector.js';
import { manifestOf, type KeptFile, type Manifest, type OutputFile } from './skill-run-manifest.js';

/** What `skill_run` answers (tRPC-Agent's names and order). */
export interface SkillRunResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number;
  readonly timed_out: boolean;
  readonly duration_ms: number;
  readonly output_files: readonly OutputFile[];
  readonly primary_output?: OutputFile;
  readonly artifact_files: readonly { readonly name: string; readonly version: number }[];
  /** What the call's `inputs` put into the workspace. */
  readonly staged_inputs?: readonly StagedInput[];
  /** What the call's `outputs` gave. */
  readonly outputs?: Manifest;
  readonly warnings: readonly string[];
}

/** Where the text of files is given: beside each file, in the manifest, or nowhere. */
export type TextPlace = 'files' | 'manifest' | 'nowhere';

/** What a result is put together from. */
export interface RunParts {
  readonly result: CommandResult;
  readonly files: readonly KeptFile[];
  readonly warnings: readonly string[];
  readonly inputs: readonly StagedInput[];
  readonly text: TextPlace;
  /** Undefined gives no manifest. */
  readonly manifest: { readonly limitsHit: boolean } | undefined;
}

/** All inline text of one result together: more would push the conversation out of a model's context. */
const inlineTotalBytes = 64 * 1024;

/** Puts a run's parts together as the model gets them. */
export function skillRunResult(parts: RunParts): SkillRunResult {
  const { result } = parts;
  const failed = result.exitCode !== 0;
  const warnings = [...parts.warnings];
  // A failed command's empty files are what it did not come to write.
  const kept = parts.files.filter(({ file }) => !(failed && file.sizeBytes === 0));
  if (kept.length < parts.files.length) {
    warnings.push(
      `${parts.files.length - kept.length} empty output files of the failed command left out`,
    );
  }
  const shown = inlineFiles(
    kept.map(({ file }) => file),
    parts.text === 'nowhere',
    warnings,
  );
  const files = parts.text === 'manifest' ? shown.map(withoutText) : shown;
  const primary = files.find((file) => file.content.trim() !== '');
  const inline = parts.text === 'manifest';
  return {
    stdout: result.stdout.text,
    stderr: result.stderr.text,
    exit_code: result.exitCode,
    timed_out: result.timedOut,
    duration_ms: Math.round(result.durationMs),
    output_files: files,
    ...(primary === undefined ? {} : { primary_output: primary }),
    artifact_files: parts.files.flatMap(({ artifact }) =>
      artifact === undefined ? [] : [{ name: artifact.name, version: artifact.version }],
    ),
    ...(parts.inputs.length === 0 ? {} : { staged_inputs: parts.inputs }),
    ...(parts.manifest === undefined
      ? {}
      : { outputs: manifestOf(shown, kept, { inline, ...parts.manifest }) }),
    warnings,
  };
}

function inlineFiles(
  files: readonly CollectedFile[],
  omitContent: boolean,
  warnings: string[],
): OutputFile[] {
  let room = omitContent ? 0 : inlineTotalBytes;
  let leftOut = 0;
  const shown = files.map((file) => {
    const fits = file.isText && file.head.byteLength <= room;
    if (fits) room -= file.head.byteLength;
    else if (file.isText && !omitContent) leftOut += 1;
    return {
      name: file.name,
      content: fits ? wholeCharacters(file.head) : '',
      mime_type: file.mimeType,
      size_bytes: file.sizeBytes,
      truncated: file.isText && !(fits && file.sizeBytes === file.head.byteLength),
      ref: `workspace://${file.name}`,
    };
  });
  if (leftOut > 0)
    warnings.push(
      `the text of ${leftOut} files is left out: ${inlineTotalBytes} bytes are shown at most`,
    );
  return shown;
}

function withoutText(file: OutputFile): OutputFile {
  return file.content === '' ? file : { ...file, content: '', truncated: true };
}

/** Text of a head that may end in the middle of a character; that character is left out. */
function wholeCharacters(head: Buffer): string {
  return new TextDecoder('utf-8').decode(head, { stream: true });
}
