import { attack, python, sh, timeout, type Scale } from './hostile-case.js';

/** Attacks by processes that will not end, or end what is not theirs. */
export const processCases = ({ bombSeconds }: Scale) => [
  attack(
    ['ignores-term', 'a process that ignores every signal that it may', 'killed at its timeout'],
    sh(
      "echo begun; trap '' TERM INT HUP QUIT USR1 USR2; sleep 3601 & setsid sleep 3602 & (nohup sleep 3603 >/dev/null 2>&1 &); while :; do :; done",
      timeout({ stdout: 'begun\n' }),
      { timeout: 1 },
    ),
  ),
  attack(
    ['double-fork', 'a daemon that survives its parent', 'killed when the command ends'],
    sh('(setsid sleep 3604 >/dev/null 2>&1 </dev/null &); echo started', { stdout: 'started\n' }),
  ),
  attack(
    ['holds-output', 'a background process that keeps stdout open', 'the command ends at once'],
    sh('sleep 3605 & setsid sleep 3606 & echo done', { stdout: 'done\n' }),
  ),
  attack(
    ['closes-streams', 'closes its streams and sleeps', 'killed at its timeout'],
    sh('exec <&- >&- 2>&-; sleep 3607', timeout(), { timeout: 1 }),
  ),
  attack(
    ['stops-itself', 'stops itself, so that it takes no signal', 'killed at its timeout'],
    sh('echo begun; kill -STOP $$; echo never', timeout({ stdout: 'begun\n' }), { timeout: 1 }),
  ),
  attack(
    ['zombies', 'children that nobody waits for', 'no zombie is left'],
    [
      python(
        `
import os, time
for n in range(40):
    if os.fork() == 0: os._exit(0)
print('made')
`,
        { stdout: 'made\n' },
      ),
      sh("ps -eo stat | grep -c '^Z'", { exit: 1, stdout: '0\n' }),
    ],
  ),
  attack(
    ['zombies-orphaned', 'hundreds of orphans while the command runs', 'the init reaps them'],
    sh(
      "for i in $(seq 300); do (sleep .01 &) ; done 2>/dev/null; sleep 1; ps -eo stat | grep -c '^Z'",
      { exit: 1, stdout: '0\n' },
    ),
  ),
  attack(
    ['pid-hopping', 'a chain of forks that is never twice the same process', 'caught and killed'],
    python(
      `
import os
if os.fork() == 0:
    while True:
        if os.fork(): os._exit(0)
print('started')
`,
      { stdout: 'started\n' },
    ),
    { mayReplace: true },
  ),
  attack(
    ['respawn', 'processes that start each other again when one is killed', 'all killed'],
    sh(
      'guard() { while :; do sleep 0.01; kill -0 "$1" 2>/dev/null || { guard "$$" & }; done; }; guard 1 & guard $! & setsid bash -c "while :; do :; done" & sleep .2; echo started',
      { stdout: 'started\n', stderr: /^/ },
    ),
  ),
  attack(
    ['fork-in-background', 'a fork bomb left behind by a command that ends', 'killed with it'],
    sh(`(:(){ :|:& };: >/dev/null 2>&1 &) 2>/dev/null; sleep ${0.2 * bombSeconds}; exit 0`, {
      exit: 0,
      stderr: /^/,
    }),
    { mayReplace: true },
  ),
  attack(
    ['fills-process-table', 'leaves as many sleeping processes as it may', 'all killed'],
    sh('for n in $(seq 100); do sleep 3608 & done 2>/dev/null; echo filled', {
      exit: 'fails',
      stdout: /^(filled\n)?$/,
      stderr: /^/,
    }),
  ),
  attack(
    ['kill-all', 'kills every process that it may', 'its own end only'],
    sh('kill -KILL -1; echo survived', { stdout: 'survived\n', stderr: /No such process/ }),
  ),
  attack(
    ['kill-init', 'kills the supervisor', 'is refused'],
    sh('kill -KILL 1; kill -TERM 1; kill -USR1 1; kill -KILL $PPID', {
      exit: 1,
      stderr: /(not permitted[^]*){4}/,
    }),
  ),
  attack(
    ['stop-init', 'stops every process that it can see', 'is refused'],
    sh('for p in /proc/[0-9]*; do p=${p#/proc/}; ((p == $$)) || kill -STOP $p; done; echo on', {
      stdout: 'on\n',
      stderr: /not permitted/,
    }),
  ),
  attack(
    ['kill-self', 'ends by signal 9 without any lack of memory', '137, not out of memory'],
    sh('echo before; kill -KILL $$', { exit: 137, stdout: 'before\n' }),
  ),
  attack(
    ['listens', 'leaves a server on the loopback for a later command', 'killed; nobody answers'],
    [
      sh(
        `python3 -c "
import os, socket
s = socket.create_server(('127.0.0.1', 4999))
print('listening')
os.fork() or s.accept()
"`,
        { stdout: 'listening\n' },
      ),
      sh('exec 3<>/dev/tcp/127.0.0.1/4999', { exit: 1, stderr: /Connection refused/ }),
    ],
  ),
  attack(
    ['time-travel', 'alarms and timers that fire after its end', 'die with their process'],
    python(
      `
import os, signal, time
if os.fork() == 0:
    signal.signal(signal.SIGALRM, lambda *a: open(os.environ['OUTPUT_DIR'] + '/late', 'w'))
    signal.setitimer(signal.ITIMER_REAL, 60)
    while True: time.sleep(1)
print('set')
`,
      { stdout: 'set\n' },
    ),
  ),
];
