import { KEEPER, RUNNER } from './sandbox-users.js';
import { layoutSteps } from './workspace-layout.js';

/** What a container's main process says when its workspace is made; before it nothing of a command has run. */
export const READY = 'skillmill-ready';

/** The signal at which the supervisor asks all that a request has started to end (SIGTERM). */
export const ASK_SIGNAL = 'SIGUSR2';
/** The signal at which the supervisor kills all that a request has started. */
export const STOP_SIGNAL = 'SIGUSR1';

/** What a shell that waits for a request does: it makes the folder $2 (if any) of the command that is likely to come, since that
 *  costs a process; then the first lines on its standard input say which script it becomes. */
const shellScript = `
image_path=$1
# Together, since bash itself would tell of a mkdir that the end of another request kills.
{ [[ -z $2 || -e $2 || -L $2 ]] || /bin/mkdir -m 0755 -- "$2"; } 2>/dev/null
shift 2
declare -A scripts
for ((; $#; )); do scripts[$1]=$2; shift 2; done
IFS= read -r -d '' kind && IFS= read -r -d '' script && IFS= read -r -d '' count || exit 126
for ((; count; count--)); do
  IFS= read -r -d '' argument || exit 126
  set -- "$@" "$argument"
done
if [[ $kind == command ]]; then PATH=$image_path; else export LC_ALL=C HOME=/tmp TAR_OPTIONS=; fi
script=\${scripts[$script]}
unset scripts kind count argument image_path
eval "$script"
`;

/** A container's main process: runs one request after another that comes by its standard input. It needs bash, coreutils and
 *  `setpriv`, and keeps only what it takes to become another user and to kill; what it starts has no capability at all.
 *
 *  Request: a line `NONCE KIND UID SCRIPT ARGUMENTS LINES FED`, the ARGUMENTS and the LINES, each closed by NUL, and when FED is 1
 *  pieces of input (a line with the length in bytes, then the bytes; 0 ends them), at last `NONCE`, closed by NUL. It runs the script
 *  of that name with the ARGUMENTS as the user UID, with the image's environment (KIND command) or our own (KIND helper); the LINES
 *  and then the pieces come on its standard input.
 *  Reply: the process's stdout on stdout and its stderr on stderr, as they come, then on each a line `NONCE CODE OOMS LEFT QUIET`
 *  with the exit code, how many processes the memory limit has killed so far, whether something could not be ended, and (after a
 *  command) whether out/ is empty.
 *
 *  The shell of a request is started ahead, the keeper's once and the runner's after each request: from a request to a command is
 *  one exec. The runner's is never alive while a command is, which could trace it.
 *
 *  A command writes to the channel's own pipes, which it opens anew: it can change no flag of the supervisor's, and /dev/stdout and
 *  /dev/stderr open for it as for any program. What it could read there is its own output. It knows no nonce: that is in no
 *  argument and no environment. It can neither signal nor trace the supervisor. All that it started is dead before the reply's
 *  end is written, so nothing comes after it: whatever is not of the supervisor's user is killed by number, round after round;
 *  where one has come since the last round, forks are faster than that, and a kill of everything at once ends it. That would end
 *  what hands input on as well, and leave the rest of it where the next request is expected: as long as there is input, numbers
 *  have to do for many rounds. The supervisor forks nothing for it, so that a fork bomb cannot hold it up. A request that is out
 *  of step ends the container.
 *
 *  Signals count only while it waits for a process, and a trap only notes them: bash gives up what it was reading when a trap runs,
 *  forgets the time-out of a read when the trap reads, reaps nothing meanwhile, and waits for the first half of a pipeline when
 *  the trap comes before its second. */
export const supervisorScript = `
image_path=$PATH
runs=$1
shift
declare -A scripts
for ((; $# > 1; )); do scripts[$1]=$2; shift 2; done
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
shopt -s nullglob dotglob
trap : PIPE
trap '' USR1 USR2
exec 10<&0 11>&1 12>&2 </dev/null
mapfile -t programs < <(type -P setpriv; type -P head; type -P tee)
setpriv=\${programs[0]} head=\${programs[1]} tee=\${programs[2]}
exec 13<> <(:) # nobody writes to it: a read with a time-out is a sleep without a process

become() {
  local id=$1
  shift
  exec "$setpriv" --reuid="$id" --regid="$id" --clear-groups --inh-caps=-all --ambient-caps=-all \\
    --bounding-set=-all /bin/bash -p -c "$@" 10<&- 11>&- 12>&- 13>&- 16>&- 17>&- 18>&-
}

# A zombie is not, unless other threads of it are; a name may hold anything.
is_alive() {
  local status fields
  IFS= read -r -d '' status < "/proc/$1/stat"
  fields=(\${status##*') '})
  [[ -n $status && ( \${fields[0]} != [ZX] || \${fields[17]} -gt 1 ) ]]
}

others_of_all() {
  local process
  others=()
  for process in /proc/[0-9]*; do
    [[ -O $process || ! -e $process ]] && continue
    process=\${process#/proc/}
    [[ $process != "$spared" ]] && is_alive "$process" && others+=("$process")
  done
  ((\${#others[@]}))
}

end_all() {
  local process round others fresh patience=$((fed ? 500 : 1))
  local -A seen=()
  for ((round = 0; round < 5000; round++)); do
    others_of_all || return 0
    fresh=0
    for process in "\${others[@]}"; do
      [[ -n \${seen[$process]} ]] || fresh=1
      seen[$process]=1
    done
    builtin kill -KILL "\${others[@]}"
    ((round >= patience && fresh)) && builtin kill -KILL -1
    ((round)) && read -r -t 0.002 -u 13
  done
  return 1
}

ask_all() {
  local others
  others_of_all && builtin kill -TERM "\${others[@]}"
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

# Waits for a process, and does what signals ask for meanwhile.
settle() {
  trap stop=1 USR1
  trap ask=1 USR2
  while :; do
    wait "$1"
    status=$?
    if ((stop)); then
      stop=0 spared=0
      end_all
    elif ((ask)); then
      ask=0
      ask_all
    else
      break
    fi
  done
  trap '' USR1 USR2
  ((status &= 255)) # bash says -1 where a trap came as the process ended
}

pieces() {
  local length
  while IFS= read -r length && ((length)); do
    "$head" -c "$length" || exit 1
  done
}

report() {
  ooms
  printf '%s %s %s %s %s\\n' "$1" "$2" "$count" "$3" "$4" >&11
  printf '%s %s %s %s %s\\n' "$1" "$2" "$count" "$3" "$4" >&12
}

shell() {
  trap - INT QUIT USR1 USR2
  if ((reopens)); then exec >/proc/self/fd/11 2>/proc/self/fd/12; else exec >&11 2>&12; fi
  become "$1" "$shell_script" skillmill "$image_path" "$2" "\${shell_scripts[@]}"
}

start_runner() {
  local name
  printf -v name '%s_%04d' "$runs" "$((commands + 1))"
  exec 16> >(shell ${RUNNER} "$name") || exit 1
  runner=$!
}

start_keeper() {
  exec 17> >(shell ${KEEPER} '') || exit 1
  keeper=$!
}

take_shell() {
  if (($1 == ${RUNNER})); then
    is_alive "$runner" || start_runner
    child=$runner runner=0 spared=$keeper
    exec 18>&16 16>&-
  else
    is_alive "$keeper" || start_keeper
    child=$keeper keeper=0 spared=$runner
    exec 18>&17 17>&-
  fi
}

is_empty() {
  local entries=(/workspace/out/*)
  [[ -r /workspace/out && -x /workspace/out ]] && ((\${#entries[@]} == 0))
}

serve() {
  local nonce=$1 kind=$2 id=$3 script=$4 arguments=$5 lines=$6 fed=$7
  local given=() item left=0 quiet=0 feeding='' code
  for ((item = 0; item < arguments + lines; item++)); do IFS= read -r -d '' -u 10 "given[item]" || exit 1; done
  take_shell "$id"
  [[ $kind == command ]] && ((commands++))
  printf '%s\\0' "$kind" "$script" "$arguments" "\${given[@]}" >&18
  if ((fed)); then
    (pieces | "$tee" -p /dev/null) <&10 >&18 10<&- 11>&- 12>&- 13>&- 16>&- 17>&- 18>&- &
    feeding=$!
  fi
  exec 18>&-
  settle "$child"
  code=$status
  end_all || left=1
  if [[ -n $feeding ]]; then settle "$feeding"; fi
  fed=0
  IFS= read -r -d '' -n $((\${#nonce} + 1)) -u 10 item && [[ $item == "$nonce" ]] || exit 1
  [[ $kind == command ]] && is_empty && quiet=1
  report "$nonce" "$code" "$left" "$quiet"
}

shell_script=\${scripts[shell]}
unset 'scripts[shell]'
shell_scripts=()
for name in "\${!scripts[@]}"; do shell_scripts+=("$name" "\${scripts[$name]}"); done
${layoutSteps}
chmod 0666 /proc/self/fd/11 /proc/self/fd/12 2>/dev/null
exec 2>/dev/null >&2
reopens=0 runner=0 keeper=0 spared=0 commands=0 fed=0 stop=0 ask=0
(: >/proc/self/fd/11 >/proc/self/fd/12) && reopens=1
start_keeper
start_runner
report ${READY} 0 0 0
while IFS=' ' read -r -u 10 nonce kind id script arguments lines fed; do
  serve "$nonce" "$kind" "$id" "$script" "$arguments" "$lines" "$fed"
  is_alive "$runner" || start_runner
done
`;

/** The arguments of the supervisor: where its commands' folders are (see `runDirOf`), and all scripts by name, so that no request
 *  carries one. */
export function supervisorArguments(
  runs: string,
  scripts: Readonly<Record<string, string>>,
): string[] {
  return [`/workspace/${runs}`, ...Object.entries({ ...scripts, shell: shellScript }).flat()];
}
