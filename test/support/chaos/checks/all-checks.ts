import type { ChaosFacts } from '../facts.js';
import { checkAttempts } from './check-attempts.js';
import { checkChains } from './check-chains.js';
import { checkEvents } from './check-events.js';
import { checkKeys } from './check-keys.js';
import { checkLedger } from './check-ledger.js';
import { checkOneAtATime } from './check-one-at-a-time.js';
import { checkOrder } from './check-order.js';
import { checkResults } from './check-results.js';

/** What must hold after a chaos run: a sentence, and what finds the faults against it. */
export const allChecks: Readonly<Record<string, (facts: ChaosFacts) => readonly string[]>> = {
  'every accepted turn has exactly one result': checkResults,
  'the results of a session come in the order of enqueueing': checkOrder,
  'never two turns of a session at once': checkOneAtATime,
  'no journalled call twice in the ledger': checkLedger,
  'a call that ran again says so': checkAttempts,
  'every hash chain is whole, no link was made twice': checkChains,
  'event seq without gap or double': checkEvents,
  'no key without an expiry but the named ones': checkKeys,
  'the model gets valid histories only': ({ modelFaults }) => modelFaults,
  'no worker ends by itself': ({ crashes }) => crashes,
};
