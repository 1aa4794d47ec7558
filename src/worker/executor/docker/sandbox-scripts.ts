import { activate } from '../activate.js';
import { clearWay, makeDir } from '../make-dir.js';

/** What turns into the command. All it has to know comes first on standard input, each closed by NUL: the folder to go to, one
 *  to make before (if any), a Python environment (if any), whether input follows, how many variables follow, the variables
 *  (never as arguments: anybody may see those) and the line. A variable that bash would change or refuse (RANDOM, `a-b`, its
 *  own and ours) is set by env, in whose arguments it does stand until the command begins.
 *  Of all in the container commands are the first that the out-of-memory killer takes (1000). */
const commandScript = `${makeDir}${activate}
next() {
  IFS= read -r -d '' "$1" || exit 126
}
# Is it a variable of ours, or of bash's own? -v would not see an empty list.
is_taken() {
  declare -p -- "$1" >/dev/null 2>&1 && [[ \${!1@a} != *x* ]]
}
echo 1000 > /proc/self/oom_score_adj
variables=()
next folder
next new
next environment
next fed
next count
for ((item = 0; item < count; item++)); do next "variables[item]"; done
next line
# A pipe of its own: it may open /dev/stdin.
if ((fed)); then exec < <(exec /bin/cat); else exec < /dev/null; fi
if [[ -n $new ]]; then make_dir /workspace "$new" || exit 126; fi
cd -- "$folder" || exit 126
set -- "$line"
odd=()
for variable in "\${variables[@]}"; do
  name=\${variable%%=*}
  if [[ ! $name =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]] || is_taken "$name"; then
    odd+=("$variable")
  else
    export -- "$variable" 2>/dev/null
  fi
done
if [[ -n $environment ]]; then activate "$environment"; fi
((\${#odd[@]})) && exec /usr/bin/env -- "\${odd[@]}" /bin/bash -p -c 'exec -a bash /bin/bash -c -- "$1"' bash "$1"
exec -a bash /bin/bash -c -- "$1"
`;

/** Removes links that stand where a folder is to be, since tar would follow them, and files; opens folders that commands have
 *  closed. It gives up where it may not: the keeper cannot remove what a command has planted in a folder of its own. The
 *  folders come first on standard input, each closed by NUL and all by an empty one; bash reads a pipe byte by byte, so tar
 *  finds the rest untouched. No command runs meanwhile. */
const putScript = `${clearWay}
umask 022
cd /workspace || exit 3
while IFS= read -r -d '' folder && [[ -n $folder ]]; do
  clear_way "$folder" || exit 2
done
exec tar -x -f - --no-same-owner -p -m
`;

/** True for a path of which no part is a link: a link may lead out of the workspace from its middle too. */
const plainPath = `
cd /workspace || exit 3
plain() {
  local rest=$1 at=.
  while :; do
    at=$at/\${rest%%/*}
    [[ -L $at || ! -e $at ]] && return 1
    [[ $rest == */* ]] || return 0
    rest=\${rest#*/}
  done
}
`;

/** One record per file: type, size, inode, change time, path; closed by NUL, since a name may hold anything else. */
const listScript = `${plainPath}
folders=()
for folder in "$@"; do plain "$folder" && [[ -d ./$folder ]] && folders+=("./$folder"); done
((\${#folders[@]})) || exit 0
exec find "\${folders[@]}" \\( -type d ! \\( -readable -executable \\) -printf '! 0 0 0 %p\\0' -prune \\) \
  -o \\( ! -type d -printf '%y %s %i %C@ %p\\0' \\)
`;

/** Hard links as files of their own: the second of them would come without its bytes. */
const readScript = `${plainPath}
set -o pipefail
while IFS= read -r -d '' path; do
  plain "$path" && [[ -f ./$path ]] && printf './%s\\0' "$path"
done | tar -c -f - --format=gnu --no-recursion --hard-dereference --verbatim-files-from --no-unquote --null -T -
`;

/** Opens what its owner has closed, whose paths come first on standard input, each closed by NUL and all by an empty one;
 *  `close_again` gives all of it its modes back. What lies in a closed folder comes after that folder. */
const openClosed = `
cd /workspace || exit 3
declare -a opened
while IFS= read -r -d '' path && [[ -n $path ]]; do
  mode=$(stat -c %a -- "./$path") && chmod u+rwx -- "./$path" && opened+=("$mode" "./$path")
done
close_again() {
  local at
  for ((at = \${#opened[@]} - 2; at >= 0; at -= 2)); do chmod "\${opened[at]}" -- "\${opened[at + 1]}"; done
}
`;

/** Two records an entry, each closed by NUL: type, mode, size, inode, change time, time and path; a link's target. A folder that
 *  cannot be looked into has the type `!`. */
const scanScript = `${openClosed}
find "$@" \\( -type d ! \\( -readable -executable \\) -printf '! %m 0 0 0 %T@ %p\\0\\0' -prune \\) \
  -o -printf '%y %m %s %i %C@ %T@ %p\\0%l\\0'
status=$?
close_again
exit "$status"
`;

/** Like the script \`read\`, for names that a scan has given since the last command: no link stands in their way. */
const fetchScript = `${openClosed}
tar -c -f - --format=gnu --no-recursion --hard-dereference --verbatim-files-from --no-unquote --null -T -
status=$?
close_again
exit "$status"
`;

/** Everything with the modes and times that the archive says, the folders' at the end. */
const restoreScript = `
cd /workspace && umask 0 && exec tar -x -f - --no-same-owner -p --delay-directory-restore --warning=no-timestamp
`;

/** What the supervisor can run, by name: it gets all of it when the container is made, so that no request carries it. */
export const sandboxScripts = {
  command: commandScript,
  put: putScript,
  list: listScript,
  read: readScript,
  scan: scanScript,
  fetch: fetchScript,
  restore: restoreScript,
} as const;

/** The name of one of them. */
export type SandboxScript = keyof typeof sandboxScripts;
