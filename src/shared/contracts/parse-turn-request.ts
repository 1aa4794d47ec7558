import { z } from 'zod';
import { SkillmillError } from '../errors/skillmill-error.js';
import { describeFaults, inputFaults, type InputFault } from '../errors/describe-issues.js';
import { turnRequestSchema, type TurnRequest } from './turn-request.js';

const maxFaults = 100;

/** Checks what a caller asks for. @throws SkillmillError INPUT_INVALID that names every fault at once */
export function parseTurnRequest(request: unknown): TurnRequest {
  const { turn, faults } = checkTurnRequest(request);
  if (turn !== undefined) return turn;
  throw new SkillmillError(
    'INPUT_INVALID',
    `The turn request is not valid: ${describeFaults(faults)}.`,
    {
      details: { faults },
    },
  );
}

/** The same for who has more to check: the request, or else every fault of it. */
export function checkTurnRequest(
  request: unknown,
):
  | { readonly turn: TurnRequest; readonly faults: readonly [] }
  | { readonly turn?: undefined; readonly faults: readonly InputFault[] } {
  const parsed = turnRequestSchema.safeParse(request);
  if (!parsed.success) return { faults: inputFaults(parsed.error).slice(0, maxFaults) };
  // A record's schema drops this key without a word, and metadata is to come back untouched.
  if (hasPrototypeKey(request)) {
    return { faults: [{ path: '', message: 'metadata.__proto__ is no name that can be kept' }] };
  }
  return { turn: parsed.data, faults: [] };
}

function hasPrototypeKey(request: unknown): boolean {
  const { data } = z.looseObject({ metadata: z.unknown() }).safeParse(request);
  const metadata = data?.metadata;
  return typeof metadata === 'object' && metadata !== null && Object.hasOwn(metadata, '__proto__');
}
