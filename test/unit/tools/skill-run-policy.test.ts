import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SkillRunConfig } from '../../../src/shared/config/config.js';
import { commandLine } from '../../../src/worker/tools/skill-run-policy.js';
import { splitWords } from '../../../src/worker/tools/skill-run-words.js';

const of = (allowed?: string[], denied?: string[]): SkillRunConfig => ({
  allowedCommands: allowed,
  deniedCommands: denied,
  hostInputs: [],
});
const line = (config: SkillRunConfig, command: string, env = {}, inSkillFolder = true) =>
  commandLine(config, { command, env, inSkillFolder });

describe('words', () => {
  it.each([
    ['a b\tc', ['a', 'b', 'c']],
    [`'a b' "c d"e f\\ g`, ['a b', 'c de', 'f g']],
    [`'' "" x''`, ['', '', 'x']],
    [`"a\\"b\\\\c\\d"`, ['a"b\\c\\d']],
    [`'$x;|"'`, ['$x;|"']],
    [`"a;b|c<>&()"`, ['a;b|c<>&()']],
    ['*.txt ~ {a,b} #x', ['*.txt', '~', '{a,b}', '#x']],
    ['   ', []],
  ])('of %j are %j', (command, words) => {
    expect(splitWords(command)).toEqual(words);
  });

  it.each(['\n', '\r', ';', '&', '|', '<', '>', '$', '`', '(', ')'])(
    'none with %j outside quotes',
    (char) => {
      expect(() => splitWords(`a${char}b`)).toThrow(JSON.stringify(char));
      expect(splitWords(`'a${char}b'`)).toEqual([`a${char}b`]);
      expect(splitWords(`a\\${char}b`.replace('\\\n', "'\n'"))).toEqual([`a${char}b`]);
    },
  );

  it.each(['"$x"', '"`x`"', "'x", '"x', 'x\\', 'a\\\nb'])('none of %j', (command) => {
    expect(() => splitWords(command)).toThrow(/without a shell/);
  });

  it('are those of a shell', () => {
    const piece = fc.constantFrom('a', ' ', "'", '"', '\\', 'b', '-', '=', 'ü');
    fc.assert(
      fc.property(fc.string({ unit: piece, maxLength: 12 }), (command) => {
        let words: readonly string[];
        try {
          words = splitWords(command);
        } catch {
          return;
        }
        const args = ['-c', `printf '%s\\0' x ${command}`];
        const printed = execFileSync('/bin/bash', args).toString('utf8').split('\0').slice(0, -1);
        expect(printed).toEqual(['x', ...words]);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a command', () => {
  it('is left as it is where nothing is restricted', () => {
    expect(line(of(), 'a | b > $c', { PATH: 'x' })).toBe('a | b > $c');
  });

  it('becomes words that no shell changes', () => {
    const odd = `it's $HOME; "x" \\ *`;
    const command = `printf '%s' "it's "'$HOME; "x" \\ *'`;
    const made = line(of(['printf']), command);
    expect(execFileSync('/bin/bash', ['-c', made]).toString('utf8')).toBe(odd);
  });

  it.each([
    [of(['ls']), 'lsx'],
    [of(['ls']), 'LS'],
    [of(['ls']), './ls'],
    [of(['ls']), 'ls/../x'],
    [of(['ls']), ''],
    [of(['ls']), "''"],
    [of(['ls']), 'A=b ls'],
    [of(['ls'], ['ls']), 'ls'],
    [of(undefined, ['rm']), 'rm'],
    [of(undefined, ['rm']), '"rm" x'],
    [of(undefined, ['rm']), '/bin/rm'],
    [of(undefined, ['rm']), 'scripts/x'],
  ])('is refused: %j %j', (config, command) => {
    expect(() => line(config, command)).toThrow(/operator restricts commands/);
  });

  it('may be a path that is listed, a relative one in the skill’s folder only', () => {
    const config = of(['/usr/bin/env', 'scripts/x.sh']);
    expect(line(config, '/usr/bin/env a', {}, false)).toBe("exec -- '/usr/bin/env' 'a'");
    expect(line(config, 'scripts/x.sh')).toBe("exec -- 'scripts/x.sh'");
    expect(() => line(config, 'scripts/x.sh', {}, false)).toThrow(/own folder/);
  });

  it.each(['PATH', 'LD_PRELOAD', 'BASH_ENV', 'GIT_EDITOR', 'EDITOR', 'PAGER', 'HOME', 'SHELL'])(
    'may not set %s',
    (name) => {
      expect(() => line(of(['ls']), 'ls', { [name]: 'x' })).toThrow(`env ${name}`);
    },
  );

  it.each([
    [
      'TAR_OPTIONS',
      'LESSOPEN',
      'MAKEFLAGS',
      'RSYNC_RSH',
      'SUDO_ASKPASS',
      'npm_config_script_shell',
    ],
    ['OPENSSL_CONF', 'PYTHONPYCACHEPREFIX', 'XDG_CONFIG_HOME', 'GEM_PATH', 'CARGO_BUILD_RUSTC'],
  ])('may not set what an allowed program takes other programs from: %s …', (...names) => {
    for (const name of names) {
      expect(() => line(of(['scripts/x']), 'scripts/x', { [name]: 'x' })).toThrow(`env ${name}`);
    }
  });

  it('may set its own variables', () => {
    expect(line(of(['ls']), 'ls', { LANG: 'C', MY_VAR: '1' })).toBe("exec -- 'ls'");
  });
});
