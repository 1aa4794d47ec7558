import { defineScript } from '../script.js';
import { sessionLua, storedSession } from './session-lua.js';

/**
 * Reads what is kept of a session, as of one moment and in one command.
 *
 * KEYS  messages, skill state, artifacts, workspace
 * Reply the session, as `storedSession` has it
 */
export const readSessionScript = defineScript(
  `${sessionLua}
return sessionOf(unpack(KEYS))
`,
  storedSession,
);
