/** Who keeps the staged skills: user and group. */
export const KEEPER = 1001;
/** Who runs commands: user and group. */
export const RUNNER = 1000;
