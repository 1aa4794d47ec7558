import { attack, sh } from './hostile-case.js';

const noNetwork = { exit: 'fails', stderr: /unreachable|not known|failure|address/i } as const;

/** Attacks on what is around a command: its root, other users' files, the network, the host. */
export const isolationCases = () => [
  attack(
    ['skill-folder', 'changes its skill', 'is refused; the skill is as it was'],
    sh(
      'cksum < SKILL.md > /tmp/before; for t in "echo x >> SKILL.md" "rm -f SKILL.md" "mv scripts s" "chmod -R 777 ." "touch new" "ln -s / root" "mv ../user-file-ops ../other"; do bash -c "$t" 2>/dev/null && echo "could $t"; done; cksum < SKILL.md | cmp - /tmp/before',
    ),
  ),
  attack(
    ['skill-other', 'makes and replaces skills beside its own', 'is refused'],
    sh('mkdir ../evil; echo x > ../evil.md; mv .. ../../other', {
      exit: 'fails',
      stderr: /(Permission denied|busy|not permitted)/,
    }),
  ),
  attack(
    ['root-files', 'writes to the root and to system folders', 'read-only'],
    sh(
      'for d in / /etc /usr/bin /bin /lib /var /root /home /opt /dev /run /sys; do touch "$d/x" 2>/dev/null && echo "wrote $d"; done; echo root:: >> /etc/passwd',
      { exit: 1, stderr: /(Read-only|denied)/ },
    ),
  ),
  attack(
    ['workspace-root', 'replaces the workspace’s own folders', 'is refused'],
    sh(
      'cd "$WORKSPACE_DIR"; touch x; mv out old; rmdir out; ln -sfn /etc out; rm -f metadata.json; echo {} > metadata.json',
      {
        exit: 'fails',
        stderr: /(denied[^]*){4}/,
        warnings: [/"out\/etc" was skipped: a symbolic link$/],
      },
    ),
  ),
  attack(
    ['proc-sys', 'writes to /proc/sys', 'read-only'],
    sh(
      'for f in kernel/core_pattern kernel/hostname vm/overcommit_memory fs/file-max; do echo x > /proc/sys/$f && echo "wrote $f"; done; true',
      { stderr: /(Read-only|denied)/ },
    ),
  ),
  attack(
    ['sysrq', 'restarts the host through /proc and /sys', 'is refused'],
    sh('echo b > /proc/sysrq-trigger; echo mem > /sys/power/state; echo 1 > /proc/1/oom_adj', {
      exit: 'fails',
      stderr: /(Read-only|denied|No such)/,
    }),
  ),
  attack(
    ['proc-kernel', 'reads the kernel’s memory and keys', 'hidden or refused'],
    sh('cat /proc/kcore /proc/keys /proc/timer_list /dev/mem /dev/kmem /dev/kmsg | head -c 1', {
      stderr: /./,
    }),
  ),
  attack(
    ['mount', 'mounts a file system over a folder', 'is refused'],
    sh('mount -t tmpfs none /mnt; mount --bind / /mnt; mount -o remount,rw /; umount /proc', {
      exit: 'fails',
      stderr: /(permission|superuser|denied|root)/i,
    }),
  ),
  attack(
    ['user-namespace', 'becomes root in a namespace of its own', 'is refused'],
    sh('unshare -Urm id; unshare -n true; unshare -p true', {
      exit: 'fails',
      stderr: /(not permitted[^]*){3}/,
    }),
  ),
  attack(
    ['enter-namespace', 'enters the namespaces of the supervisor', 'is refused'],
    sh('nsenter -t 1 -a id', { exit: 'fails', stderr: /denied|not permitted/ }),
  ),
  attack(
    ['chroot', 'makes a root of its own', 'is refused'],
    sh('chroot / /bin/true', { exit: 'fails', stderr: /not permitted/ }),
  ),
  attack(
    ['set-user-id', 'keeps a set-user-id copy of a shell, looks for others', 'there are none'],
    sh(
      'cp /bin/bash /tmp/sh; chmod 6755 /tmp/sh; /tmp/sh -p -c "id -u"; find / -xdev -perm /6000 -type f 2>/dev/null; setpriv --reuid 0 true',
      { exit: 'fails', stdout: '1000\n', stderr: /not permitted/ },
    ),
  ),
  attack(
    ['capabilities', 'looks for capabilities', 'has none and gets none'],
    sh('grep -hE "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status', {
      stdout: /^(Cap\w+:\t0{16}\n){5}NoNewPrivs:\t1\nSeccomp:\t2\n$/,
    }),
  ),
  attack(
    ['devices', 'makes devices of the host’s disk and memory', 'is refused'],
    sh('mknod /tmp/disk b 8 0; mknod /tmp/mem c 1 1; ls /dev/sd* /dev/vd* /dev/nvme*', {
      exit: 'fails',
      stderr: /(not permitted[^]*){2}/,
    }),
  ),
  attack(
    ['init-files', 'reads the supervisor’s memory, variables and files', 'is refused'],
    sh(
      'for f in environ mem maps root/etc/shadow cwd/x fd/0 auxv stack; do cat /proc/1/$f 2>/dev/null && echo "read $f"; done; true',
    ),
  ),
  attack(
    ['shadow', 'reads what only root may', 'is refused'],
    sh('cat /etc/shadow /root/.bashrc', { exit: 1, stderr: /(denied[^]*){2}/ }),
  ),
  attack(
    ['engine-socket', 'looks for the engine’s socket', 'it is not there'],
    sh('find / -type s 2>/dev/null; ls /var/run/docker.sock /run/containerd', {
      exit: 2,
      stderr: /(No such file[^]*){2}/,
    }),
  ),
  attack(
    ['host-mounts', 'looks for folders of the host', 'none is mounted'],
    sh(
      'while read -r _ at type _; do case $type in overlay|tmpfs|proc|sysfs|devpts|mqueue|cgroup|cgroup2) ;; *) case $at in /etc/resolv.conf|/etc/hostname|/etc/hosts) ;; *) echo $at $type ;; esac ;; esac; done < /proc/mounts',
    ),
  ),
  attack(
    ['worker-secrets', 'looks for the worker’s variables', 'they are not there'],
    sh('env | grep -iE "openai|redis|skillmill|token|key"', { exit: 1 }),
  ),
  attack(
    ['network-internet', 'connects to an address of the internet', 'there is no network'],
    sh('ls /sys/class/net; exec 3<>/dev/tcp/1.1.1.1/443', { ...noNetwork, stdout: 'lo\n' }),
  ),
  attack(
    ['network-metadata', 'asks the cloud’s metadata address', 'there is no network'],
    sh('exec 3<>/dev/tcp/169.254.169.254/80', noNetwork),
  ),
  attack(
    ['network-host', 'connects to the host and to its neighbours', 'there is no network'],
    sh(
      'for a in 172.17.0.1 10.0.0.1 192.168.0.1; do (exec 3<>/dev/tcp/$a/22) && echo "reached $a"; done; exec 3<>/dev/tcp/host.docker.internal/6379',
      noNetwork,
    ),
  ),
  attack(
    ['network-names', 'asks for the address of a name', 'there is nobody to ask'],
    sh('getent hosts example.com', { exit: 2 }),
  ),
  attack(
    ['network-loopback', 'connects to services of the worker on the loopback', 'nobody answers'],
    sh(
      'for p in 6379 2375 2376 80 443 22; do (exec 3<>/dev/tcp/127.0.0.1/$p) 2>/dev/null && echo "reached $p"; done; true',
    ),
  ),
  attack(
    ['start-up-files', 'plants start-up files for later commands', 'no later command reads them'],
    [
      sh(
        'for f in .bashrc .profile .bash_profile .bash_login; do echo "echo trapped" > "/tmp/$f"; cp "/tmp/$f" "$WORK_DIR/$f"; done; mkdir -p "$WORK_DIR/bin"; for p in cat head tee tar find setpriv bash ps; do printf "#!/bin/sh\\necho trapped\\n" > "$WORK_DIR/bin/$p"; chmod 755 "$WORK_DIR/bin/$p"; done; cd "$WORK_DIR" && ln -s bin/cat cat',
      ),
      sh('echo clean', { stdout: 'clean\n' }),
    ],
  ),
];
