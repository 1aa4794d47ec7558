import { attack, python, sh, type Scale } from './hostile-case.js';

const link = /was skipped: a symbolic link$/;
const onlyFirst = /^only the first 10000 files were looked at$/;

/** Attacks by what a command leaves in the folder of its results. */
export const fileCases = ({ files }: Scale) => [
  attack(
    ['link-out', 'links to files of the system', 'never followed; a warning each'],
    sh(
      'cd "$OUTPUT_DIR"; ln -s /etc/passwd a; ln -s ../../etc/passwd b; ln -s /proc/self/environ c',
      {
        warnings: [link, link, link],
      },
    ),
  ),
  attack(
    ['link-middle', 'a link in the middle of the path that is asked for', 'never followed'],
    sh(
      'ln -s /proc/self "$OUTPUT_DIR/hop"; ln -s /etc "$OUTPUT_DIR/etc"',
      { warnings: [/is outside skills/, link, link] },
      { output_files: ['out/hop/environ', 'out/etc/passwd', 'out/hop/../../etc/passwd'] },
    ),
  ),
  attack(
    ['link-loop', 'links in a circle, to nothing and to themselves', 'a warning each, no more'],
    sh('cd "$OUTPUT_DIR"; ln -s b a; ln -s a b; ln -s nowhere c; ln -s . d', {
      warnings: [link, link, link, link],
    }),
  ),
  attack(
    ['link-swapped', 'a file that was returned becomes a link', 'the link is not followed'],
    [
      sh('echo text > "$OUTPUT_DIR/f"', { files: { 'out/f': 'text\n' } }),
      sh('ln -sf /etc/passwd "$OUTPUT_DIR/f"', { warnings: [link] }),
    ],
  ),
  attack(
    ['link-hard', 'hard links to files of others and of its own', 'refused; its own are files'],
    sh(
      'cd "$OUTPUT_DIR"; ln /etc/passwd p; ln "$SKILLS_DIR/$SKILL_NAME/SKILL.md" s; echo x > a; ln a b',
      {
        stderr: /(failed to create hard link[^]*){2}/,
        files: { 'out/a': 'x\n', 'out/b': 'x\n' },
      },
    ),
  ),
  attack(
    ['fifo', 'a FIFO that nobody writes to', 'skipped with a warning, never opened'],
    sh(
      'mkfifo "$OUTPUT_DIR/pipe"; echo ok > "$OUTPUT_DIR/real.txt"',
      {
        files: { 'out/real.txt': 'ok\n' },
        warnings: [/"out\/pipe" was skipped: a FIFO$/],
      },
      { output_files: ['out/real.txt', 'out/pipe'] },
    ),
  ),
  attack(
    ['socket', 'a socket', 'skipped with a warning'],
    python(
      "import os, socket\nsocket.socket(socket.AF_UNIX).bind(os.environ['OUTPUT_DIR'] + '/s')",
      {
        warnings: [/"out\/s" was skipped: a socket$/],
      },
    ),
  ),
  attack(
    ['device', 'a device', 'cannot be made; a link to one is not followed'],
    sh('mknod "$OUTPUT_DIR/d" c 1 5; ln -s /dev/zero "$OUTPUT_DIR/zero"', {
      stderr: /not permitted/,
      warnings: [link],
    }),
  ),
  attack(
    ['mode-zero', 'files and folders that nobody may open', 'a warning; the others come'],
    sh(
      'cd "$OUTPUT_DIR"; echo x > a; echo x > shut; mkdir closed; echo x > closed/f; chmod 000 shut closed; echo x > z',
      {
        files: { 'out/a': 'x\n', 'out/z': 'x\n' },
        warnings: [/"out\/closed" was skipped/, /"out\/shut" was not collected/],
      },
    ),
  ),
  attack(
    ['mode-out', 'shuts the workspace’s folders', 'opened again for the next command'],
    [
      sh('chmod 000 "$WORKSPACE_DIR/runs" "$OUTPUT_DIR"', { warnings: [/was skipped/] }),
      sh('chmod 755 "$OUTPUT_DIR"; cd "$RUN_DIR" && echo open', { stdout: 'open\n' }),
    ],
  ),
  attack(
    [
      'deep',
      'folders so deep that no path reaches the end',
      'what can be had comes; the rest is told',
    ],
    python(
      `
import os
os.chdir(os.environ['OUTPUT_DIR'])
open('top', 'w').write('x')
for n in range(60):
    os.mkdir('d' * 200); os.chdir('d' * 200)
open('bottom', 'w').write('x')
`,
      { files: { 'out/top': 'x' }, warnings: [/was not collected/] },
    ),
  ),
  attack(
    ['many-files', 'thousands of files (100,000 in full)', 'the first 20; the rest is counted'],
    sh(`cd "$OUTPUT_DIR"; seq -f 'f%06g' ${files} | xargs touch`, {
      files: Object.fromEntries(Array.from({ length: 20 }, (_, n) => [nthFile(n + 1), ''])),
      warnings: [onlyFirst, /^\d+ more files were not collected/],
    }),
  ),
  attack(
    ['many-skipped', 'hundreds of links and FIFOs', 'a bounded number of warnings'],
    sh(
      'cd "$OUTPUT_DIR"; for n in {1..200}; do ln -s / l$n; done; for n in {1..50}; do mkfifo p$n; done',
      {
        warnings: Array.from({ length: 20 }, () => /was skipped/),
      },
    ),
  ),
  attack(
    ['large-file', 'a file over the limit of one file', 'not returned; a warning'],
    sh('truncate -s 70M "$OUTPUT_DIR/large"', {
      warnings: [/^"out\/large" was not collected: 73400320 bytes, over the limit of 67108864$/],
    }),
  ),
  attack(
    ['large-many', 'files that are over the limit together', 'what fits; the rest is counted'],
    sh('cd "$OUTPUT_DIR"; for n in 1 2 3; do truncate -s 30M f$n; done', {
      files: { 'out/f1': 31_457_280, 'out/f2': 31_457_280 },
      warnings: [/^1 more files were not collected/],
    }),
  ),
  attack(
    [
      'growing',
      'an output that a process still writes to',
      'the process is killed first; the file stands still',
    ],
    [
      sh(
        '(setsid bash -c \'while :; do echo x >> "$OUTPUT_DIR/grows"; done\' &) ; sleep .3; ls "$OUTPUT_DIR"',
        {
          stdout: 'grows\nkept\n',
          files: { 'out/grows': /^(x\n)+$/ },
        },
      ),
      sh(
        'a=$(wc -c < "$OUTPUT_DIR/grows"); sleep .2; test "$a" = "$(wc -c < "$OUTPUT_DIR/grows")" && echo still',
        { stdout: 'still\n' },
      ),
    ],
  ),
  attack(
    ['hidden-change', 'a file changed with its old time and size', 'seen as changed'],
    [
      sh('echo one > "$OUTPUT_DIR/f"; touch -d 2001-01-01 "$OUTPUT_DIR/f"', {
        files: { 'out/f': 'one\n' },
      }),
      sh('echo two > "$OUTPUT_DIR/f"; touch -d 2001-01-01 "$OUTPUT_DIR/f"', {
        files: { 'out/f': 'two\n' },
      }),
    ],
  ),
  attack(
    [
      'content-types',
      'contents that are not what their names say',
      'typed by both; never inlined as text',
    ],
    python(
      `
import os
os.chdir(os.environ['OUTPUT_DIR'])
open('f.bin', 'wb').write(bytes(range(256)))
open('page.txt', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + bytes(64))
open('half.txt', 'wb').write('é'.encode()[:1])
open('plain', 'w').write('text')
`,
      { files: { 'out/f.bin': 256, 'out/half.txt': 1, 'out/page.txt': 72, 'out/plain': 'text' } },
    ),
  ),
  attack(
    ['executable', 'a program with every bit set', 'its bytes; no bit goes along'],
    sh('printf "#!/bin/sh\\n" > "$OUTPUT_DIR/run"; chmod 6777 "$OUTPUT_DIR/run"', {
      files: { 'out/run': '#!/bin/sh\n' },
    }),
  ),
  attack(
    ['removes-all', 'removes all that it may', 'its own files only; the next command runs'],
    sh(
      'rm -rf --no-preserve-root / 2>/dev/null; cd "$WORKSPACE_DIR"; rm -rf work/* out/* runs/* 2>/dev/null; ls skills',
      {
        stdout: 'user-file-ops\n',
      },
    ),
    { takesFiles: true },
  ),
  attack(
    ['folder-for-file', 'a folder where its file was, a file where its folder was', 'as it is now'],
    [
      sh('cd "$OUTPUT_DIR"; echo file > a; mkdir b; echo file > b/f', {
        files: { 'out/a': 'file\n', 'out/b/f': 'file\n' },
      }),
      sh('cd "$OUTPUT_DIR"; rm -r a b; mkdir a; echo new > a/f; echo new > b', {
        files: { 'out/a/f': 'new\n', 'out/b': 'new\n' },
      }),
    ],
  ),
];

/** The name that seq gives the n-th file. */
function nthFile(n: number): string {
  return `out/f${String(n).padStart(6, '0')}`;
}
