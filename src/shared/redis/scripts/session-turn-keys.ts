import type { SessionKeys, TurnKeys } from '../keys.js';

/** What `keysLua` names, in the order in which the script is handed them. */
const names = [
  'session',
  'line',
  'delayed',
  'steered',
  'messages',
  'skillState',
  'artifacts',
  'workspace',
  'turn',
  'events',
  'journal',
  'blobs',
] as const satisfies readonly (keyof (SessionKeys & TurnKeys))[];

/** `keys.session`, `keys.line`, … for a script that is run with `sessionTurnKeys`. */
export const keysLua = `
local keys = {}
for i, name in ipairs({ ${names.map((name) => `'${name}'`).join(', ')} }) do keys[name] = KEYS[i] end
`;

/** How many keys `sessionTurnKeys` gives: a script's further ones come after. */
export const sessionTurnKeyCount = names.length;

/** All keys of a session and one of its turns, for the scripts that change a session's line. */
export function sessionTurnKeys(keys: SessionKeys & TurnKeys): string[] {
  return names.map((name) => keys[name]);
}
