import { z } from 'zod';
import { SkillmillError } from '../errors/skillmill-error.js';
import { describeFaults, inputFaults } from '../errors/describe-issues.js';
import { turnRequestSchema, type TurnRequest } from './turn-request.js';

const maxFaults = 100;

/** Checks what a caller asks for. @throws SkillmillError INPUT_INVALID that names every fault at once */
export function parseTurnRequest(request: unknown): TurnRequest {
  const parsed = turnRequestSchema.safeParse(request);
  // A record's schema drops this key without a word, and metadata is to come back untouched.
  if (parsed.success && hasPrototypeKey(request)) {
    throw new SkillmillError(
      'INPUT_INVALID',
      'The turn request is not valid: metadata.__proto__ is no name that can be kept.',
    );
  }
  if (parsed.success) return parsed.data;
  const faults = inputFaults(parsed.error).slice(0, maxFaults);
  throw new SkillmillError(
    'INPUT_INVALID',
    `The turn request is not valid: ${describeFaults(faults)}.`,
    {
      details: { faults },
    },
  );
}

function hasPrototypeKey(request: unknown): boolean {
  const { data } = z.looseObject({ metadata: z.unknown() }).safeParse(request);
  const metadata = data?.metadata;
  return typeof metadata === 'object' && metadata !== null && Object.hasOwn(metadata, '__proto__');
}
