import { createRequire } from 'node:module';
import { createContext, Script } from 'node:vm';
import type Ajv from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import type { ResponseFormat } from '../../shared/contracts/index.js';
import { errorMessage, SkillmillError } from '../../shared/errors/skillmill-error.js';
import { parseArguments } from '../model/parse-arguments.js';
import { withoutFence } from '../model/without-fence.js';

// Loaded with the first schema: few turns have one, and it costs 0.06 s of CPU time.
const load: (name: 'ajv/dist/2020.js') => typeof Ajv = createRequire(import.meta.url);

/** A turn's final answer. */
export interface FinalAnswer {
  readonly text: string;
  /** The answer as data, when JSON was asked for. */
  readonly parsed?: unknown;
}

/** An answer that is as asked, or what is wrong with it: for the model, and as the error when it answers so again. */
export type CheckedOutput =
  | { readonly kind: 'answer'; readonly answer: FinalAnswer }
  | { readonly kind: 'fault'; readonly complaint: string; readonly error: SkillmillError };

export type OutputCheck = (text: string) => CheckedOutput;

/** A caller's schema may take for ever, by itself or on a model's answer. */
const schemaMs = 1000;
const maxSchemaChars = 256 * 1024;

/** The check for a turn's `responseFormat`. @throws SkillmillError INPUT_INVALID for a schema that is none */
export function createOutputCheck(format: ResponseFormat | undefined): OutputCheck {
  if (format === undefined || format.type === 'text') {
    return (text) => ({ kind: 'answer', answer: { text } });
  }
  const validate = format.type === 'json_schema' ? compile(format.json_schema.schema) : undefined;
  return (text) => {
    const { value, fault } = parseArguments(withoutFence(text));
    if (fault !== undefined) return complaintOf(`it is no JSON: ${fault}`);
    const wrong = validate === undefined ? objectFault(value) : faultOf(validate, value);
    if (wrong !== undefined) return complaintOf(wrong);
    return { kind: 'answer', answer: { text, parsed: value } };
  };
}

function compile(schema: Record<string, unknown>): ValidateFunction {
  // Every dialect is read as the newest: an unknown `$schema` would be looked for elsewhere.
  const own = Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$schema'));
  try {
    if (JSON.stringify(own).length > maxSchemaChars) throw new Error('it is longer than 256 KiB');
    const { Ajv2020 } = load('ajv/dist/2020.js');
    const ajv = new Ajv2020({ strict: false, logger: false, unicodeRegExp: false });
    const validate = inTime(() => ajv.compile(own));
    if ('$async' in validate) throw new Error('$async is not supported');
    return validate;
  } catch (error) {
    throw new SkillmillError(
      'INPUT_INVALID',
      `responseFormat.json_schema.schema is no JSON Schema: ${errorMessage(error)}.`,
    );
  }
}

const calling = new Script('work()');

/** Runs work that is not ours for a while at most. @throws what the work throws; Error when it takes too long */
function inTime<Result>(work: () => Result): Result {
  let result: { readonly value: Result } | undefined;
  const keep = () => void (result = { value: work() });
  calling.runInContext(createContext({ work: keep }), { timeout: schemaMs });
  if (result === undefined) throw new Error('it came to no end');
  return result.value;
}

function faultOf(validate: ValidateFunction, parsed: unknown): string | undefined {
  try {
    if (inTime(() => validate(parsed))) return undefined;
  } catch (error) {
    return `it could not be checked (${errorMessage(error)})`;
  }
  const [first] = validate.errors ?? [];
  return first === undefined
    ? 'it does not fit the schema'
    : `${first.instancePath || '/'} ${first.message ?? 'is wrong'}`;
}

function objectFault(parsed: unknown): string | undefined {
  const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  return isObject ? undefined : '/ must be an object';
}

function complaintOf(what: string): CheckedOutput {
  return {
    kind: 'fault',
    complaint: `Your answer does not have the form that was asked for: ${what}. Answer again, with the JSON alone.`,
    error: new SkillmillError(
      'OUTPUT_INVALID',
      `The model's answer does not fit responseFormat, and did not when it was asked again: ${what}. Simplify the schema, or use a model that keeps to one.`,
    ),
  };
}
