import type { z } from 'zod';
import type { Variable } from './variables/variable.js';
import { serviceVariables } from './variables/service-variables.js';
import { blobVariables } from './variables/blob-variables.js';
import { modelVariables } from './variables/model-variables.js';
import { skillVariables } from './variables/skill-variables.js';
import { sandboxVariables } from './variables/sandbox-variables.js';
import { inputVariables } from './variables/input-variables.js';
import { workerVariables } from './variables/worker-variables.js';

/** Every variable that skillmill reads (DESIGN §3.6). README's table and `--help` are made from this. */
export const variables = {
  ...serviceVariables,
  ...blobVariables,
  ...modelVariables,
  ...skillVariables,
  ...sandboxVariables,
  ...inputVariables,
  ...workerVariables,
} as const;

export type VariableName = keyof typeof variables;

/** The parsed environment: what has a default is always there. */
export type Environment = {
  readonly [Name in VariableName]: (typeof variables)[Name] extends { default: string }
    ? z.output<(typeof variables)[Name]['schema']>
    : z.output<(typeof variables)[Name]['schema']> | undefined;
};

/** The same table as a list, in its order. */
export const variableList: readonly (readonly [string, Variable])[] =
  Object.entries<Variable>(variables);
