import { SkillmillError } from '../errors/skillmill-error.js';
import { describeFaults, inputFaults } from '../errors/describe-issues.js';
import { turnRequestSchema, type TurnRequest } from './turn-request.js';

/** Checks what a caller asks for. @throws SkillmillError INPUT_INVALID that names every fault at once */
export function parseTurnRequest(request: unknown): TurnRequest {
  const parsed = turnRequestSchema.safeParse(request);
  if (parsed.success) return parsed.data;
  const faults = inputFaults(parsed.error);
  throw new SkillmillError(
    'INPUT_INVALID',
    `The turn request is not valid: ${describeFaults(faults)}.`,
    {
      details: { faults },
    },
  );
}
