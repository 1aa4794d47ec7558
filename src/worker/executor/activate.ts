/** A Bash function, the same in every sandbox.
 *  activate FOLDER: what a Python environment's own activate script does for commands, when it has been made. */
export const activate = `
activate() {
  [[ -d $1/bin ]] || return
  export PATH="$1/bin\${PATH:+:$PATH}" VIRTUAL_ENV="\${VIRTUAL_ENV:-$1}"
}
`;
