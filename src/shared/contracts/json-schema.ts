import { z } from 'zod';
import { artifactSchema } from './artifact.js';
import { turnEventSchema } from './turn-event.js';
import { turnRequestSchema } from './turn-request.js';
import { turnResultSchema } from './turn-result.js';

const published = {
  'turn-request': turnRequestSchema,
  'turn-result': turnResultSchema,
  'turn-event': turnEventSchema,
  artifact: artifactSchema,
} as const;

export type ContractName = keyof typeof published;

/** The contracts that producers in other languages can get as JSON Schema. */
export const contractNames: readonly string[] = Object.keys(published);

/** Is this the name of a published contract? */
export function isContractName(name: string): name is ContractName {
  return Object.hasOwn(published, name);
}

/** A contract as JSON Schema (draft 2020-12). */
export function contractJsonSchema(name: ContractName): Record<string, unknown> {
  const io = name === 'turn-request' ? 'input' : 'output';
  return { title: `skillmill ${name}`, ...z.toJSONSchema(published[name], { io }) };
}
