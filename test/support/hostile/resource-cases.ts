import { attack, outOfMemory, python, sh, timeout, type Scale } from './hostile-case.js';

const killed = { exit: 137, warnings: [outOfMemory] };
const full = { exit: 1, stderr: /No space left on device/ };

/** Attacks that take what there is of memory, disk, processor and handles. */
export const resourceCases = ({ bombSeconds }: Scale) => [
  attack(
    ['fork-bomb', 'a function of bash that calls itself twice, for ever', 'ends by its timeout'],
    sh(':(){ :|:& };:; sleep 3600', timeout({ stdout: /^/, stderr: /^/ }), {
      timeout: bombSeconds,
    }),
    { mayReplace: true },
  ),
  attack(
    ['fork-until-refused', 'forks until the system refuses', 'is refused at the limit'],
    python(
      `
import os, time
n = 0
try:
    while True:
        if os.fork() == 0:
            time.sleep(3600)
        n += 1
except OSError:
    print('refused below 64' if n < 64 else 'took %d' % n)
`,
      { stdout: 'refused below 64\n' },
    ),
  ),
  attack(
    ['thread-bomb', 'starts threads until the system refuses', 'is refused at the limit'],
    python(
      `
import os, threading, time
n = 0
try:
    while True:
        threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
        n += 1
except RuntimeError:
    os.write(1, b'refused below 64\\n' if n < 64 else b'took too many\\n')
os._exit(0)
`,
      { stdout: 'refused below 64\n' },
    ),
  ),
  attack(
    ['memory-bomb', 'one line without an end kept in memory', 'killed, reported as out of memory'],
    sh('tail /dev/zero', killed),
  ),
  attack(
    ['memory-hidden', 'a child takes all memory, its parent ends well', 'exit 0 and out of memory'],
    sh('tail /dev/zero; echo survived', {
      stdout: 'survived\n',
      stderr: /Killed/,
      warnings: [outOfMemory],
    }),
  ),
  attack(
    ['memory-many', 'four processes take memory at once', 'all killed, reported as out of memory'],
    sh('for n in 1 2 3 4; do tail /dev/zero & done; wait; echo waited', {
      stdout: 'waited\n',
      stderr: /^/,
      warnings: [outOfMemory],
    }),
    { mayReplace: true },
  ),
  attack(
    ['memory-python', 'a list that grows', 'killed, reported as out of memory'],
    python('x = []\nwhile True: x.append(bytearray(1 << 20))', killed),
  ),
  attack(
    ['memory-reserve', 'reserves more addresses than there are', 'is refused, nothing is killed'],
    python(
      `
import mmap
try:
    m = mmap.mmap(-1, 1 << 50)
    print('reserved')
except (OSError, MemoryError):
    print('refused')
`,
      { stdout: 'refused\n' },
    ),
  ),
  attack(
    ['memory-shm', 'fills /dev/shm', 'the disk’s end at its size, nothing is killed'],
    sh('head -c 300000000 /dev/zero > /dev/shm/fill', full),
    { alone: true },
  ),
  attack(
    ['memory-sysv', 'SysV shared memory that outlives its process', 'killed or kept in the limit'],
    python(
      `
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
taken = 0
for n in range(16):
    segment = libc.shmget(0, 64 << 20, 0o1600)
    if segment < 0: break
    at = libc.shmat(segment, None, 0)
    ctypes.memset(at, 1, 64 << 20)
    taken += 64
print('took', taken)
`,
      killed,
    ),
    { mayReplace: true },
  ),
  attack(
    ['disk-bomb', 'writes to the workspace without an end', 'the disk’s end, which the next sees'],
    sh('head -c 300000000 /dev/zero > "$WORK_DIR/fill"', full),
    { alone: true },
  ),
  attack(
    ['disk-tmp', 'fills /tmp', 'the disk’s end; the workspace has its own room'],
    [
      sh('head -c 300000000 /dev/zero > /tmp/fill', full),
      sh('echo room > "$WORK_DIR/room" && cat "$WORK_DIR/room"', { stdout: 'room\n' }),
    ],
    { alone: true },
  ),
  attack(
    ['disk-out', 'fills the disk with output', 'the disk’s end; too large to be returned'],
    sh('head -c 300000000 /dev/zero > "$OUTPUT_DIR/fill"', {
      ...full,
      warnings: [/^"out\/fill" was not collected: \d+ bytes, over the limit of 67108864$/],
    }),
    { alone: true },
  ),
  attack(
    ['disk-sparse', 'a file that says it has a terabyte', 'over the size limit of a file'],
    sh('truncate -s 1T "$WORK_DIR/sparse"', { exit: 'fails', stderr: /^/ }),
    { alone: true },
  ),
  attack(
    ['disk-fallocate', 'reserves more than there is', 'is refused'],
    sh('fallocate -l 1G "$WORK_DIR/reserved"', { exit: 'fails', stderr: /^/ }),
    { alone: true },
  ),
  attack(
    ['disk-deleted', 'a full disk of a file that is open and deleted', 'free again at the end'],
    [
      sh('exec 3> "$WORK_DIR/gone"; rm "$WORK_DIR/gone"; head -c 300000000 /dev/zero >&3', full),
      sh('head -c 30000000 /dev/zero > "$WORK_DIR/room" && echo room', { stdout: 'room\n' }),
    ],
    { alone: true },
  ),
  attack(
    ['inode-bomb', 'hard links to one file by the ten thousand', 'costs its own sandbox only'],
    python(
      `
import os
os.chdir(os.environ['WORK_DIR'])
open('one', 'w').close()
try:
    for n in range(10000): os.link('one', 'l%d' % n)
except OSError: pass
print('linked')
`,
      { stdout: 'linked\n' },
    ),
    { alone: true },
  ),
  attack(
    ['open-files', 'opens files until the system refuses', 'is refused at the limit'],
    python(
      `
import os
n = 0
try:
    while True:
        os.open('/dev/null', os.O_RDONLY)
        n += 1
except OSError as e:
    print('refused', n <= 4096)
`,
      { stdout: 'refused True\n' },
    ),
  ),
  attack(
    ['raise-limits', 'raises its own limits', 'is refused'],
    sh('ulimit -n 100000; ulimit -c unlimited; ulimit -f unlimited; ulimit -Hn', {
      stdout: '4096\n',
      stderr: /(Operation not permitted[^]*){3}/,
    }),
  ),
  attack(
    ['core-dump', 'crashes so that its memory is written out', 'signal reported, no core file'],
    sh('cd "$OUTPUT_DIR"; ulimit -c unlimited 2>/dev/null; kill -SEGV $$', { exit: 139 }),
  ),
  attack(
    ['cpu-spin', 'computes without an end, twice', 'ends by its timeout'],
    sh('while :; do :; done & while :; do :; done', timeout(), { timeout: 1 }),
  ),
  attack(
    ['priority', 'raises its priority and asks for real time', 'is refused'],
    sh('renice -n -20 $$; chrt -f -p 99 $$; ionice -c1 -p $$; nice', {
      stdout: '0\n',
      stderr: /(denied|not permitted)[^]*not permitted/i,
    }),
  ),
  attack(
    [
      'oom-shield',
      'shields itself from the out-of-memory killer',
      'is refused; killed all the same',
    ],
    sh('echo -1000 > /proc/self/oom_score_adj; exec tail /dev/zero', {
      ...killed,
      stderr: /Permission denied/,
    }),
  ),
  attack(
    ['cgroup', 'changes its own limits through the control groups', 'read-only'],
    sh(
      'find /sys/fs/cgroup -maxdepth 2 -writable -print; for f in $(find /sys/fs/cgroup -name "*procs" -o -name "*.max" -o -name "*limit_in_bytes"); do echo 99999999999 2>/dev/null > "$f" && echo "wrote $f"; done 2>/dev/null; mkdir /sys/fs/cgroup/mine',
      { exit: 1, stderr: /cannot create directory/ },
    ),
  ),
];
