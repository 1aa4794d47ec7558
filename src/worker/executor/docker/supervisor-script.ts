import { RUNNER } from './sandbox-users.js';
import { layoutSteps } from './workspace-layout.js';

/** What a container's main process says when its workspace is made; before it nothing of a command has run. */
export const READY = 'skillmill-ready';

/** The signal at which the supervisor kills all that a request has started. */
export const STOP_SIGNAL = 'SIGUSR1';

/** A container's main process: runs one request after another that comes by its standard input. It needs bash, coreutils and
 *  `setpriv`, and keeps only what it takes to become another user and to kill; what it starts has no capability at all.
 *
 *  Request: a line `NONCE KIND UID SCRIPT ARGUMENTS LINES FED`, the ARGUMENTS and the LINES, each closed by NUL, and when FED is 1
 *  pieces of input (a line with the length in bytes, then the bytes; 0 ends them), at last a line `NONCE`. It runs
 *  the script of that name with the ARGUMENTS as the user UID with the image's environment (KIND command) or our own (KIND helper), the LINES and
 *  then the pieces on its standard input.
 *  Reply: the process's stdout on stdout and its stderr on stderr, as they come, then on each a line `NONCE CODE OOMS LEFT` with the
 *  exit code, how many processes the memory limit has killed so far, and whether something could not be ended.
 *
 *  What becomes the next command, and the relays of its output, are started ahead: from a request to a command is one exec.
 *
 *  A command knows no nonce: it is in no argument and no environment. It has none of the channel's files: relays of the
 *  supervisor's user copy its output. It can neither signal nor trace them. All that it started dies before the reply's end:
 *  whatever is not of the supervisor's user is killed by number, round after round; where one has come since the last round,
 *  forks are faster than that, and a kill of everything at once (which costs the last bytes of output) ends it. The supervisor forks nothing for it, so that a
 *  fork bomb cannot hold it up. A request that is out of step ends the container. */
export const supervisorScript = `
image_path=$PATH
declare -A scripts
for ((; $# > 1; )); do scripts[$1]=$2; shift 2; done
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
trap : PIPE
exec 10<&0 11>&1 12>&2 </dev/null
mapfile -t programs < <(type -P setpriv; type -P cat; type -P head; type -P tee)
setpriv=\${programs[0]} cat=\${programs[1]} head=\${programs[2]} tee=\${programs[3]}
exec 13<> <(:) # nobody writes to it: a read with a time-out is a sleep without a process

become() {
  local id=$1
  shift
  exec "$setpriv" --reuid="$id" --regid="$id" --clear-groups --inh-caps=-all --ambient-caps=-all \\
    --bounding-set=-all /bin/bash -p -c "$@" 10<&- 11>&- 12>&- 13>&- 14>&- 15>&- 16>&-
}

end_all() {
  local process round others fresh
  local -A seen=()
  for ((round = 0; round < 5000; round++)); do
    others=() fresh=0
    for process in /proc/[0-9]*; do
      [[ -O $process || ! -e $process ]] && continue
      process=\${process#/proc/}
      others+=("$process")
      [[ -n \${seen[$process]} ]] || fresh=1
      seen[$process]=1
    done
    ((\${#others[@]})) || return 0
    builtin kill -KILL "\${others[@]}"
    ((round && fresh)) && builtin kill -KILL -1
    ((round)) && read -r -t 0.002 -u 13
  done
  return 1
}

ooms() {
  local file key value
  count=0
  for file in /sys/fs/cgroup/memory/memory.oom_control /sys/fs/cgroup/memory.events; do
    [[ -r $file ]] || continue
    while read -r key value; do
      [[ $key == oom_kill ]] && count=$value
    done < "$file"
  done
}

settle() {
  stopped=1
  while ((stopped)); do
    stopped=0
    wait "$1"
    status=$?
  done
}

pieces() {
  local length
  while IFS= read -r length && ((length)); do
    "$head" -c "$length" || exit 1
  done
}

report() {
  ooms
  printf '%s %s %s %s\\n' "$1" "$2" "$count" "$3" >&11
  printf '%s %s %s %s\\n' "$1" "$2" "$count" "$3" >&12
}

launch() {
  exec 16> >(
    trap - INT QUIT
    if [[ $1 == command ]]; then export PATH=$image_path; else export LC_ALL=C HOME=/tmp; fi
    exec >&14 2>&15
    become "$2" "\${scripts[$3]}" skillmill "\${@:4}"
  ) || exit 1
  child=$!
}

prepare() {
  prepared=1
  exec 14> >(exec "$cat" >&11 10<&- 11>&- 12>&- 13>&- 15>&- 16>&-) || exit 1
  out=$!
  exec 15> >(exec "$cat" >&12 10<&- 11>&- 12>&- 13>&- 14>&- 16>&-) || exit 1
  err=$!
  launch command ${RUNNER} command
}

serve() {
  local nonce=$1 arguments=() lines=() item left=0 feeding='' code
  for ((item = 0; item < $5; item++)); do IFS= read -r -d '' -u 10 "arguments[item]" || exit 1; done
  for ((item = 0; item < $6; item++)); do IFS= read -r -d '' -u 10 "lines[item]" || exit 1; done
  ((prepared)) || prepare
  prepared=0
  [[ $4 == command ]] || launch "$2" "$3" "$4" "\${arguments[@]}"
  exec 14>&- 15>&-
  (($6)) && printf '%s\\0' "\${lines[@]}" >&16
  if (($7)); then
    pieces <&10 10<&- 11>&- 12>&- 16>&- 13>&- | "$tee" -p /dev/null >&16 10<&- 11>&- 12>&- 13>&- 16>&- &
    feeding=$!
  fi
  exec 16>&-
  settle "$child"
  code=$status
  end_all || left=1
  settle "$out"
  settle "$err"
  if [[ -n $feeding ]]; then settle "$feeding"; fi
  IFS= read -r -u 10 item && [[ $item == "$nonce" ]] || exit 1
  report "$nonce" "$code" "$left"
}

${layoutSteps}
exec 2>/dev/null >&2
stopped=0
trap 'stopped=1 prepared=0; end_all' USR1
prepared=0
report ${READY} 0 0
prepare
while :; do
  IFS=' ' read -r -u 10 nonce kind id script arguments lines fed
  got=$?
  ((got > 128)) && continue
  ((got)) && exit 0
  serve "$nonce" "$kind" "$id" "$script" "$arguments" "$lines" "$fed"
  prepare
done
`;
