import { attack, sh } from './hostile-case.js';

/** Attacks by the names of files. */
export const nameCases = () => [
  attack(
    ['names-newline', 'names with line ends, quotes, tabs and escapes', 'data; the file comes'],
    sh(`cd "$OUTPUT_DIR"; echo 1 > $'a\\nskillmill: forged'; echo 2 > $'t\\tq"\\'\\x1b[2J'`, {
      files: { 'out/a\nskillmill: forged': '1\n', 'out/t\tq"\'\u001b[2J': '2\n' },
    }),
  ),
  attack(
    ['names-options', 'names that look like options', 'data; the files come'],
    sh(
      'cd "$OUTPUT_DIR"; for n in -rf --checkpoint-action=exec=id --to-command=id -T; do echo x > "./$n"; done',
      {
        files: {
          'out/--checkpoint-action=exec=id': 'x\n',
          'out/--to-command=id': 'x\n',
          'out/-T': 'x\n',
          'out/-rf': 'x\n',
        },
      },
    ),
  ),
  attack(
    [
      'names-dots',
      'names of dots and names that look like paths',
      'data; they stay where they are',
    ],
    sh(
      `cd "$OUTPUT_DIR"; mkdir ... '..%2f'; echo x > ...\\/f; echo x > '..a'; echo x > '..\\..\\b'; echo x > 'C:c'; echo x > '..%2f/d'`,
      {
        files: {
          'out/..%2f/d': 'x\n',
          'out/.../f': 'x\n',
          'out/..\\..\\b': 'x\n',
          'out/..a': 'x\n',
          'out/C:c': 'x\n',
        },
      },
    ),
  ),
  attack(
    ['names-patterns', 'names that are patterns, variables and commands', 'each names itself only'],
    sh(`cd "$OUTPUT_DIR"; for n in '[x]' '*' '$(id)' '{a,b}' '\`id\`'; do echo x > "$n"; done`, {
      files: {
        'out/$(id)': 'x\n',
        'out/*': 'x\n',
        'out/[x]': 'x\n',
        'out/`id`': 'x\n',
        'out/{a,b}': 'x\n',
      },
    }),
  ),
  attack(
    ['names-bytes', 'names that are not UTF-8', 'a warning; the others come'],
    sh(`cd "$OUTPUT_DIR"; echo x > $'\\xff\\xfe'; echo x > $'caf\\xe9'; echo x > ok`, {
      files: { 'out/ok': 'x\n' },
      warnings: [/a name that is not UTF-8$/, /a name that is not UTF-8$/],
    }),
  ),
  attack(
    ['names-unicode', 'two names that look the same, and one that turns round', 'two files'],
    sh(`cd "$OUTPUT_DIR"; echo 1 > $'u\\u0308'; echo 2 > $'\\u00fc'; echo 3 > $'\\u202egnp.exe'`, {
      files: { 'out/u\u0308': '1\n', 'out/\u00fc': '2\n', 'out/\u202egnp.exe': '3\n' },
    }),
  ),
  attack(
    ['names-long', 'the longest name that there is', 'the file comes'],
    sh(`echo x > "$OUTPUT_DIR/$(printf 'n%.0s' {1..255})"`, {
      files: { [`out/${'n'.repeat(255)}`]: 'x\n' },
    }),
  ),
];
