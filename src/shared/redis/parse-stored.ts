import type { z } from 'zod';
import { SkillmillError, errorMessage } from '../errors/skillmill-error.js';

/** Stored JSON as its contract. @throws SkillmillError INTERNAL for what another version wrote */
export function parseStored<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new SkillmillError(
      'INTERNAL',
      `Redis holds a record of an unknown form: ${errorMessage(error)}`,
      { cause: error },
    );
  }
}
