/** The workspace has two owners: the keeper has the root and skills/, commands have the rest. Only its own user can make a
 *  folder for each, and the mode of the tmpfs cannot be given (runc takes it from the image's folder). So the main process opens
 *  the root to all, the commands' user makes its folders, and the main process closes the root. No command has run by then.
 *  From then on nobody but the keeper renames or replaces the folders themselves. */

/** What the container's main process does as the keeper: its half of the layout, then nothing until it is removed. */
export const mainScript = `
umask 022
cd /workspace && mkdir skills && chmod 0777 . || exit 1
until [[ -d .made ]]; do sleep 0.01; done
rmdir .made
chmod 0755 .
exec sleep infinity
`;

/** The other half, as the commands' user: ends when the root is closed; gives up after about 20 s. */
export const layoutScript = `
umask 022
cd /workspace || exit 1
for ((round = 0; round < 2000; round++)); do [[ -w . ]] && break; sleep 0.01; done
mkdir work work/inputs out runs .made || exit 1
for ((; round < 2000; round++)); do [[ -w . ]] || exit 0; sleep 0.01; done
exit 1
`;
