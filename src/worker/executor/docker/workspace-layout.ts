import { KEEPER, RUNNER } from './sandbox-users.js';

/** The workspace has two owners: the keeper has the root and skills/, commands have the rest. Only its own user can make a
 *  folder for each, and the mode of the tmpfs cannot be given (runc takes it from the image's folder). So the keeper opens
 *  the root to all, the commands' user makes its folders, and the keeper closes the root. No command has run by then.
 *  From then on nobody but the keeper renames or replaces the folders themselves.
 *  Part of the supervisor's script: `become ID SCRIPT` runs a script as a user; what fails is told on stderr and ends it all. */
export const layoutSteps = `
(become ${KEEPER} 'umask 022; cd /workspace && mkdir skills && chmod 0777 .') 2>&12 &&
(become ${RUNNER} 'umask 022; cd /workspace && mkdir work work/inputs out runs') 2>&12 &&
(become ${KEEPER} 'cd /workspace && chmod 0755 .') 2>&12 || exit 1
`;
