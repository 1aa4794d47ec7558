import { Ajv, type ValidateFunction } from 'ajv';
import type { ResponseFormat } from '../../shared/contracts/index.js';
import { errorMessage, SkillmillError } from '../../shared/errors/skillmill-error.js';

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

const shownFaults = 10;

/** The check for a turn's `responseFormat`. @throws SkillmillError INPUT_INVALID for a schema that is none */
export function createOutputCheck(format: ResponseFormat | undefined): OutputCheck {
  if (format === undefined || format.type === 'text') {
    return (text) => ({ kind: 'answer', answer: { text } });
  }
  const validate = format.type === 'json_schema' ? compile(format.json_schema.schema) : undefined;
  return (text) => {
    try {
      const parsed: unknown = JSON.parse(withoutFence(text));
      const faults = validate === undefined ? objectFaults(parsed) : faultsOf(validate, parsed);
      return faults.length === 0
        ? { kind: 'answer', answer: { text, parsed } }
        : fault(faults.join('; '));
    } catch (error) {
      return fault(`it is no JSON: ${errorMessage(error)}`);
    }
  };
}

function compile(schema: Record<string, unknown>): ValidateFunction {
  try {
    return new Ajv({ allErrors: true, strict: false, logger: false }).compile(schema);
  } catch (error) {
    throw new SkillmillError(
      'INPUT_INVALID',
      `responseFormat.json_schema.schema is no JSON Schema: ${errorMessage(error)}.`,
    );
  }
}

function faultsOf(validate: ValidateFunction, parsed: unknown): string[] {
  if (validate(parsed)) return [];
  return (validate.errors ?? [])
    .slice(0, shownFaults)
    .map(({ instancePath, message }) => `${instancePath || '/'} ${message ?? 'is wrong'}`);
}

function objectFaults(parsed: unknown): string[] {
  return typeof parsed === 'object' && parsed !== null ? [] : ['/ must be an object'];
}

function fault(what: string): CheckedOutput {
  return {
    kind: 'fault',
    complaint: `Your answer does not have the form that was asked for: ${what}. Answer again, with the JSON alone.`,
    error: new SkillmillError(
      'OUTPUT_INVALID',
      `The model's answer does not fit responseFormat, and did not when it was asked again: ${what}.`,
    ),
  };
}

function withoutFence(text: string): string {
  return /^\s*```(?:json)?\s*\n(.*)\n\s*```\s*$/is.exec(text)?.[1] ?? text;
}
