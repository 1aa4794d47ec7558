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
  const ofSchema = parsed.success ? [] : inputFaults(parsed.error);
  const faults = [...ofSchema, ...artifactsOfNobody(request)];
  if (!parsed.success || faults.length > 0) return { faults: faults.slice(0, maxFaults) };
  // A record's schema drops this key without a word, and metadata is to come back untouched.
  if (hasPrototypeKey(request)) {
    return { faults: [{ path: '', message: 'metadata.__proto__ is no name that can be kept' }] };
  }
  return { turn: parsed.data, faults: [] };
}

const filesOfASession = z.looseObject({
  sessionId: z.unknown().optional(),
  files: z.array(z.looseObject({ artifact: z.unknown().optional() })),
});

/** Artifacts belong to a session, and a new one has none. */
function artifactsOfNobody(request: unknown): InputFault[] {
  const { data } = filesOfASession.safeParse(request);
  if (data === undefined || data.sessionId !== undefined) return [];
  return data.files.flatMap(({ artifact }, index) =>
    artifact === undefined
      ? []
      : [{ path: `files[${index}].artifact`, message: 'needs sessionId: a new session has none' }],
  );
}

function hasPrototypeKey(request: unknown): boolean {
  const { data } = z.looseObject({ metadata: z.unknown() }).safeParse(request);
  const metadata = data?.metadata;
  return typeof metadata === 'object' && metadata !== null && Object.hasOwn(metadata, '__proto__');
}
