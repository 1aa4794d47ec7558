/** What a shell takes as a variable's name. */
export const environmentNameRule = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Variables that make a program load or run something else (dynamic linkers, shells, interpreters). They are never set for a
 * skill from outside its command: who may set one of them runs code in everything that the command starts.
 */
const loaders: readonly RegExp[] = [
  /^(LD|DYLD|MALLOC|GLIBC|RES|BASH_FUNC)_/,
  /^(GCONV_PATH|LOCPATH|NLSPATH|GETCONF_DIR|HOSTALIASES|LOCALDOMAIN|TMPDIR)$/,
  /^(BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|IFS|CDPATH|GLOBIGNORE)$/,
  /^(NODE_OPTIONS|NODE_PATH|NODE_EXTRA_CA_CERTS)$/,
  /^PYTHON(HOME|PATH|STARTUP|INSPECT|BREAKPOINT|WARNINGS|USERBASE|EXECUTABLE|PLATLIBDIR)$/,
  /^(PERL5OPT|PERL5LIB|PERL5DB|PERLLIB|RUBYOPT|RUBYLIB|LUA_INIT.*|LUA_C?PATH.*)$/,
  /^(JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH)$/,
  /^(GIT_(SSH|SSH_COMMAND|EXEC_PATH|PROXY_COMMAND|EXTERNAL_DIFF|PAGER|EDITOR|ASKPASS)|SSH_ASKPASS)$/,
];

/** Set by skillmill for each command. */
const taken: ReadonlySet<string> = new Set([
  'WORKSPACE_DIR',
  'SKILLS_DIR',
  'WORK_DIR',
  'OUTPUT_DIR',
  'RUN_DIR',
  'SKILL_NAME',
  'PATH',
  'HOME',
]);

/** What is wrong with this name for a variable that a skill's commands are to have; undefined when nothing is. */
export function environmentNameFault(name: string): string | undefined {
  if (!environmentNameRule.test(name)) return 'is no name for an environment variable';
  if (taken.has(name)) return 'is set by skillmill itself';
  if (loaders.some((rule) => rule.test(name))) {
    return 'would change what programs load or run, so it is never set';
  }
  return undefined;
}
