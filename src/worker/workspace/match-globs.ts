import { createContext, Script } from 'node:vm';
import picomatch from 'picomatch';
import { z } from 'zod';
import { errorMessage } from '../../shared/errors/skillmill-error.js';

const patternLimitChars = 512;
/** A glob becomes a regular expression, and a hostile one with a fitting file name would hold up every turn of the worker. */
const matchingLimitMs = 250;

const answers = z.array(z.boolean());
const script = new Script('paths.map((path) => rules.some((rule) => rule.test(path)))');

/** The files that any of these globs names. A glob that is too long or takes too long is a warning. */
export function matchGlobs<File extends { readonly path: string }>(
  files: readonly File[],
  patterns: readonly string[],
  warnings: string[],
): File[] {
  const usable = patterns.filter((pattern) => pattern.length <= patternLimitChars);
  if (usable.length < patterns.length) {
    warnings.push(`globs over ${patternLimitChars} characters were left out`);
  }
  if (usable.length === 0) return [];
  try {
    const rules = usable.map((pattern) =>
      picomatch.makeRe(pattern, { dot: true, noextglob: true, flags: 's' }),
    );
    const context = createContext({ rules, paths: files.map((file) => file.path) });
    // The time limit of a context is the one way to stop a regular expression from outside.
    const found = answers.parse([
      ...iterable(script.runInContext(context, { timeout: matchingLimitMs })),
    ]);
    // A name that looks like a pattern names its own file as well.
    return files.filter(({ path }, index) => found[index] === true || usable.includes(path));
  } catch (error) {
    warnings.push(`nothing was collected: the globs could not be matched (${errorMessage(error)})`);
    return [];
  }
}

/** A list made in another context is no instance of this one's Array. */
function iterable(value: unknown): Iterable<unknown> {
  return z
    .custom<Iterable<unknown>>((v) => typeof v === 'object' && v !== null && Symbol.iterator in v)
    .parse(value);
}
