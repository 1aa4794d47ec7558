import { firstParagraph } from './first-paragraph.js';
import { readFrontMatter } from './front-matter.js';
import { DiagnosticList } from './skill-diagnostic.js';
import {
  knownFields,
  readAllowedTools,
  readDescription,
  readMetadata,
  readName,
  readOptionalTexts,
} from './skill-fields.js';
import { readRequirements } from './skill-requirements.js';
import type { SkillDiagnostic, SkillManifest } from './skill.js';
import { normalizeText } from './source-text.js';
import { readToolsSection } from './tools-section.js';

/** Largest SKILL.md that is read, in bytes (issue 3). */
export const maxSkillFileBytes = 1024 * 1024;

/** A SKILL.md to read. */
export interface SkillSource {
  readonly text: string;
  /** Name of the folder it stands in: the skill's name when it gives none. */
  readonly folderName: string;
  /** Its path, for diagnostics. */
  readonly file: string;
}

/** What a SKILL.md says; no manifest when it cannot be understood, and then at least one diagnostic is an error. */
export interface ParsedSkill {
  readonly manifest: SkillManifest | undefined;
  readonly diagnostics: readonly SkillDiagnostic[];
}

/** Reads a SKILL.md liberally (DESIGN §4.1) and says in diagnostics what is wrong with it; pure, runs nothing, never throws, under 100 ms for 1 MiB. */
export function parseSkill(source: SkillSource): ParsedSkill {
  const found = new DiagnosticList(source.file);
  return { manifest: readManifest(source, found), diagnostics: found.all };
}

function readManifest(source: SkillSource, found: DiagnosticList): SkillManifest | undefined {
  if (source.text.length > maxSkillFileBytes) {
    reportTooLarge(found, source.text.length);
    return undefined;
  }
  if (source.text.includes('\0')) {
    found.error('skill-file-not-text', 'The file holds NUL bytes: it is not a text file.', 1);
    return undefined;
  }
  reportDialect(source.text, found);
  const text = normalizeText(source.text);
  const front = readFrontMatter(text, found);
  if (front.kind === 'refused') return undefined;
  if (front.kind === 'absent') {
    found.warn(
      'front-matter-missing',
      'There is no front matter: begin the file with --- and name and description.',
      1,
    );
  }
  const fields =
    front.kind === 'read' ? knownFields(front.entries, found) : new Map<string, never>();
  const name = readName(fields, source.folderName, found);
  if (name === undefined) return undefined;
  const metadata = readMetadata(fields, found);
  const requirements = readRequirements(metadata, found, fields.get('metadata')?.line ?? 1);
  const body = front.body.replace(/^(?:[ \t]*\n)+/, '');
  return {
    name,
    description: readDescription(fields, firstParagraph(body), found),
    ...readOptionalTexts(fields, found),
    allowedTools: readAllowedTools(fields, found),
    metadata,
    ...(requirements !== undefined && { requirements }),
    tools: readToolsSection(body),
    body,
  };
}

/** Reports a SKILL.md of more bytes than are read. */
export function reportTooLarge(found: DiagnosticList, bytes: number): void {
  found.error(
    'skill-file-too-large',
    `The file has ${bytes} bytes; at most ${maxSkillFileBytes} are read.`,
    1,
  );
}

function reportDialect(text: string, found: DiagnosticList): void {
  if (text.startsWith('\uFEFF')) {
    found.warn(
      'byte-order-mark',
      'The file begins with a byte order mark; save it as plain UTF-8.',
      1,
    );
  }
  if (text.includes('\r')) {
    found.warn('line-endings', 'The file has CR line ends; save it with LF line ends.', 1);
  }
}
