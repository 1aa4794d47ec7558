import type { z } from 'zod';

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

/** Keeps a definition's own type, so that what it parses to is known. */
export const variable = <Definition extends Variable>(definition: Definition): Definition =>
  definition;
