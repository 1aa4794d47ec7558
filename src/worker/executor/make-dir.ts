/** A Bash function for folders that commands may have changed, the same in every sandbox.
 *  clear_way PATH: removes a link or file that stands where a folder is to be, and opens a folder of our own that was closed.
 *  To be called for a path's outermost part first, so that no link is ever passed through. Programs by their full path: PATH
 *  may be the command's. */
export const clearWay = `
clear_way() {
  if [[ -L $1 || ( -e $1 && ! -d $1 ) ]]; then
    /bin/rm -f -- "$1"
  elif [[ -O $1 && ! ( -r $1 && -w $1 && -x $1 ) ]]; then
    /bin/chmod u+rwx -- "$1"
  fi
}
`;

/** The function above, and make_dir ROOT PATH: makes a folder, and those above it, below a root. Leaves the caller in the root. */
export const makeDir = `${clearWay}
make_dir() {
  local rest=$2/ at=
  cd -- "$1" || return
  while [[ -n $rest ]]; do
    at=\${at:+$at/}\${rest%%/*}
    rest=\${rest#*/}
    clear_way "$at" || return
    [[ -d $at ]] || /bin/mkdir -m 0755 -- "$at" || return
  done
}
`;
