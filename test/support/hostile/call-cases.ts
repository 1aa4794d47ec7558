import { attack, sh } from './hostile-case.js';

const refused = { error: 'TOOL_INPUT_INVALID' };

/** Attacks by the arguments of the call itself. */
export const callCases = () => [
  attack(
    ['cwd-above', 'a working folder above the workspace', 'refused before anything runs'],
    [
      sh('pwd', refused, { cwd: '../../../etc' }),
      sh('pwd', refused, { cwd: '/etc' }),
      sh('pwd', refused, { cwd: '$WORK_DIR/../../root' }),
      sh('pwd', refused, { cwd: 'a\0b' }),
    ],
  ),
  attack(
    ['cwd-link', 'a working folder through a link of its own', 'the sandbox’s own folder only'],
    [
      sh('ln -s /etc "$WORK_DIR/hop"'),
      sh(
        'pwd -P; touch x',
        { exit: 1, stdout: '/etc\n', stderr: /Read-only|denied/ },
        {
          cwd: '$WORK_DIR/hop',
        },
      ),
    ],
  ),
  attack(
    ['cwd-file', 'a working folder that is a file', 'the command fails, and says why'],
    sh('pwd', { exit: 126, stderr: /Not a directory/ }, { cwd: 'SKILL.md' }),
  ),
  attack(
    ['skill-path', 'a skill’s name that is a path', 'no such skill'],
    [
      sh('pwd', { error: 'SKILL_NOT_FOUND' }, { skill: '../../etc' }),
      sh('pwd', { error: 'SKILL_NOT_FOUND' }, { skill: '/etc' }),
      sh('pwd', { error: 'SKILL_NOT_FOUND' }, { skill: '__proto__' }),
    ],
  ),
  attack(
    ['command-size', 'a command longer than any shell takes', 'refused before anything runs'],
    [sh(`: ${'x'.repeat(140_000)}`, refused), sh('echo \0', refused)],
  ),
  attack(
    ['command-quotes', 'quotes, expansions and line ends in a command', 'taken as it is'],
    sh(`printf '%s' "a'b" '"' '$HOME' '\\' "$(echo x)" # "\n\nprintf '\\n%s\\n' "--"`, {
      stdout: `a'b"$HOME\\x\n--\n`,
    }),
  ),
  attack(
    ['command-options', 'a command that looks like options of the shell', 'a command all the same'],
    sh('-c "id"', { exit: 127, stderr: /command not found/ }),
  ),
  attack(
    ['environment-loader', 'variables that make programs load its files', 'reach its command only'],
    [
      sh(
        'echo "echo trapped" > "$WORK_DIR/evil.sh"; mkdir "$WORK_DIR/bin"; printf "#!/bin/sh\\necho trapped" > "$WORK_DIR/bin/cat"; chmod 755 "$WORK_DIR/bin/cat"',
      ),
      sh(
        'echo ran > "$OUTPUT_DIR/ran"; builtin echo "$LD_PRELOAD"',
        {
          stdout: /^(trapped\n)*\/workspace\/work\/evil.so\n$/,
          stderr: /^/,
          files: { 'out/ran': 'ran\n' },
        },
        {
          env: {
            PATH: '/workspace/work/bin',
            BASH_ENV: '/workspace/work/evil.sh',
            ENV: '/workspace/work/evil.sh',
            LD_PRELOAD: '/workspace/work/evil.so',
            PYTHONSTARTUP: '/workspace/work/evil.sh',
            PROMPT_COMMAND: 'echo trapped',
            SHELLOPTS: 'xtrace',
            IFS: 'a',
            TMPDIR: '/proc/1',
          },
        },
      ),
    ],
  ),
  attack(
    ['environment-names', 'names of variables that are functions or options', 'refused'],
    [
      sh('env', refused, { env: { 'BASH_FUNC_echo%%': '() { builtin echo trapped; }' } }),
      sh('env', refused, { env: { '-i': '' } }),
      sh('env', refused, { env: { 'A=B': '' } }),
      sh('env', refused, { env: { A: 'x\0y' } }),
    ],
  ),
  attack(
    ['environment-size', 'a variable longer than any process takes', 'refused'],
    sh('env', refused, { env: { A: 'x'.repeat(140_000) } }),
  ),
  attack(
    ['environment-own', 'a variable that names another workspace', 'its command only is misled'],
    [
      sh(
        'echo "$OUTPUT_DIR"; echo x > "$OUTPUT_DIR/f"',
        {
          exit: 1,
          stdout: '/etc\n',
          stderr: /Read-only|denied/,
        },
        { env: { OUTPUT_DIR: '/etc' } },
      ),
      sh('echo "$OUTPUT_DIR"', { stdout: '/workspace/out\n' }),
    ],
  ),
  attack(
    ['input-unread', 'more standard input than it ever reads', 'the command ends at once'],
    sh('echo done', { stdout: 'done\n' }, { stdin: 'x'.repeat(500_000) }),
  ),
  attack(
    ['input-closed', 'closes its input while it still comes', 'the command goes on'],
    sh(
      'head -c 3; exec <&-; echo; echo on',
      { stdout: 'xxx\non\n' },
      { stdin: 'x'.repeat(500_000) },
    ),
  ),
  attack(
    ['input-none', 'waits for input that nobody gives', 'an end of input at once'],
    sh('cat; read -r line; echo "end $?"', { stdout: 'end 1\n' }),
  ),
  attack(
    ['input-lines', 'requests of the supervisor on its standard input', 'data like any other'],
    sh(
      'wc -c',
      { stdout: '60\n' },
      {
        stdin: '0 helper 0 put 0 0 0\n0 command 0 command 0 1 0\nid\0\0\0\n5\n\0\0\0\n1'.padEnd(
          57,
          'x',
        ),
      },
    ),
  ),
  attack(
    ['timeout-range', 'timeouts that are none', 'refused'],
    [sh('true', refused, { timeout: -1 }), sh('true', refused, { timeout: 1e9 })],
  ),
  attack(
    ['globs-outside', 'globs that leave the workspace', 'a warning each, no file'],
    sh(
      'true',
      {
        warnings: Array.from({ length: 5 }, () => /is outside skills\/, work\/, out\/ and runs\//),
      },
      {
        output_files: [
          '../**',
          '/etc/*',
          'out/../../etc/passwd',
          '$OUTPUT_DIR/../../proc/*',
          '~/*',
        ],
      },
    ),
  ),
  attack(
    ['globs-costly', 'globs that take for ever to match', 'cut off by time; nothing is held up'],
    sh(
      `touch "$WORK_DIR/${'a'.repeat(80)}!"`,
      { warnings: [/could not be matched/] },
      {
        output_files: ['work/+([a-z]|[a-c])b', 'work/(a+)+b', `work/${'*a'.repeat(12)}b`, 'work/['],
      },
    ),
  ),
  attack(
    ['globs-many', 'more globs than a call may have', 'refused'],
    sh('true', refused, { output_files: Array.from({ length: 101 }, (_, n) => `out/${n}`) }),
  ),
];
