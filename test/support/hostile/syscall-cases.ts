import { attack, python, sh } from './hostile-case.js';

interface Call {
  readonly id: string;
  readonly tries: string;
  /** Numbers on x86_64 and aarch64. */
  readonly numbers: readonly [number, number];
  /** Python for its arguments. */
  readonly args?: string;
}

const calls: readonly Call[] = [
  {
    id: 'mount',
    tries: 'mounts by the system call itself',
    numbers: [165, 40],
    args: "b'none', b'/tmp', b'tmpfs', 0, None",
  },
  { id: 'pivot-root', tries: 'exchanges the root', numbers: [155, 41], args: "b'/tmp', b'/tmp'" },
  { id: 'setuid', tries: 'becomes root', numbers: [105, 146], args: '0' },
  { id: 'ptrace', tries: 'traces the supervisor', numbers: [101, 117], args: '16, 1, 0, 0' },
  {
    id: 'read-memory',
    tries: 'reads the supervisor’s memory',
    numbers: [310, 270],
    args: '1, None, 0, None, 0, 0',
  },
  {
    id: 'open-by-handle',
    tries: 'opens a file of the host by its number',
    numbers: [304, 265],
    args: "3, b'\\0' * 16, 0",
  },
  {
    id: 'bpf',
    tries: 'loads a program into the kernel',
    numbers: [321, 280],
    args: "0, b'\\0' * 64, 64",
  },
  {
    id: 'perf',
    tries: 'watches the processor',
    numbers: [298, 241],
    args: "b'\\0' * 128, 0, -1, -1, 0",
  },
  {
    id: 'keyring',
    tries: 'keeps keys in the kernel',
    numbers: [248, 217],
    args: "b'user', b'k', b'v', 1, -3",
  },
  {
    id: 'userfaultfd',
    tries: 'handles its own page faults in the kernel',
    numbers: [323, 282],
    args: '0',
  },
  { id: 'module', tries: 'loads a kernel module', numbers: [175, 105], args: "b'x', 1, b''" },
  { id: 'kexec', tries: 'loads another kernel', numbers: [246, 104], args: '0, 0, None, 0' },
  {
    id: 'reboot',
    tries: 'restarts the host',
    numbers: [169, 142],
    args: '0xfee1dead, 672274793, 0x1234567, None',
  },
  { id: 'swap', tries: 'makes a file to swap to', numbers: [167, 224], args: "b'/tmp/swap', 0" },
  { id: 'set-clock', tries: 'sets the host’s clock', numbers: [227, 112], args: "0, b'\\0' * 16" },
  { id: 'hostname', tries: 'sets the host’s name', numbers: [170, 161], args: "b'owned', 5" },
  { id: 'quota', tries: 'changes quotas of disks', numbers: [179, 60], args: '0, None, 0, None' },
  { id: 'accounting', tries: 'switches accounting on', numbers: [163, 89], args: "b'/tmp/acct'" },
  { id: 'fanotify', tries: 'watches the whole file system', numbers: [300, 262], args: '0, 0' },
];

const program = ({ numbers: [x86, arm], args = '' }: Call) => `
import ctypes, errno, platform
libc = ctypes.CDLL(None, use_errno=True)
number = {'x86_64': ${x86}, 'aarch64': ${arm}}[platform.machine()]
got = libc.syscall(number, ${args})
print('allowed' if got >= 0 else errno.errorcode[ctypes.get_errno()])
`;

const socket = (family: string, type: string) => `
import socket
try:
    socket.socket(socket.${family}, socket.${type}, 255)
    print('allowed')
except PermissionError:
    print('refused')
`;

/** Attacks by system calls that no command needs. */
export const syscallCases = () => [
  ...calls.map((call) =>
    attack(
      [`call-${call.id}`, call.tries, 'the kernel refuses'],
      python(program(call), { stdout: /^(EPERM|EACCES|ENOSYS)\n$/ }),
    ),
  ),
  attack(
    ['raw-socket', 'opens a raw socket', 'the kernel refuses'],
    python(socket('AF_INET', 'SOCK_RAW'), { stdout: 'refused\n' }),
  ),
  attack(
    ['packet-socket', 'listens to the packets of the network card', 'the kernel refuses'],
    python(socket('AF_PACKET', 'SOCK_RAW'), { stdout: 'refused\n' }),
  ),
  attack(
    ['network-card', 'takes the loopback down and gives it another address', 'the kernel refuses'],
    python(
      `
import fcntl, socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for request in (0x8914, 0x8916):
    try:
        fcntl.ioctl(s, request, struct.pack('16sH22x', b'lo', 0))
        print('allowed')
    except OSError:
        print('refused')
`,
      { stdout: 'refused\nrefused\n' },
    ),
  ),
  attack(
    ['host-socket', 'connects to abstract sockets of the host', 'it sees none but its own'],
    sh("tail -n +2 /proc/net/unix | grep -c '@'", { exit: 1, stdout: '0\n' }),
  ),
];
