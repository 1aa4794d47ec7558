import { environmentNameRule } from '../../shared/config/environment-name.js';
import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { Executor } from '../executor/executor.js';

/** What a sandbox has. */
export interface Inventory {
  /** The system's name as Node has it: `linux`, `darwin`. */
  readonly os: string;
  hasProgram(name: string): boolean;
  hasVariable(name: string): boolean;
}

/** What to look for. */
export interface Wanted {
  readonly programs: readonly string[];
  readonly variables: readonly string[];
}

const programName = /^[A-Za-z0-9_+][A-Za-z0-9_.+-]{0,99}$/;
const maxVariableName = 100;
const lookUpMs = 60_000;
/** How long a failed lookup is not tried again. */
const failureMs = 30_000;
/** Ten thousand names of a hundred characters. */
const outputLimitBytes = 2 * 1024 * 1024;

/** Prints each line of its input that it finds, then the system's name. Names come by standard input, never as part of a command. */
const lookUpScript = `while read -r kind name; do
  case $kind in
    program) type -P -- "$name" > /dev/null && echo "$kind $name" ;;
    variable) [[ -n \${!name} ]] && echo "$kind $name" ;;
  esac
done
echo "os $(uname -s)"`;

/**
 * Knows which programs and variables there are inside the sandboxes' image (never on this machine). Each name is looked up once
 * for an image; lookups run one after another, so that turns which ask at the same time share one.
 */
export class SandboxInventory {
  private readonly executor: Pick<Executor, 'imageId' | 'open'>;
  private image = '';
  private found: ReadonlySet<string> = new Set();
  private asked: ReadonlySet<string> = new Set();
  private last: Promise<unknown> = Promise.resolve();
  private failure: { readonly error: SkillmillError; readonly until: number } | undefined;

  constructor(executor: Pick<Executor, 'imageId' | 'open'>) {
    this.executor = executor;
  }

  /** @throws SkillmillError SANDBOX_UNAVAILABLE */
  async lookUp(wanted: Wanted): Promise<Inventory> {
    const lines = linesOf(wanted);
    const mine = this.last.catch(() => undefined).then(() => this.know(lines));
    this.last = mine;
    await mine;
    const { found } = this;
    const os = [...found].find((line) => line.startsWith('os '))?.slice(3);
    return {
      os: os?.toLowerCase() ?? 'unknown',
      hasProgram: (name) => found.has(`program ${name}`),
      hasVariable: (name) => found.has(`variable ${name}`),
    };
  }

  private async know(lines: readonly string[]): Promise<void> {
    // An engine that is away is not asked anew by every turn that waits for it.
    if (this.failure !== undefined && Date.now() < this.failure.until) throw this.failure.error;
    try {
      await this.learn(lines);
      this.failure = undefined;
    } catch (thrown) {
      const error = SkillmillError.from(thrown);
      this.failure = { error, until: Date.now() + failureMs };
      throw error;
    }
  }

  private async learn(lines: readonly string[]): Promise<void> {
    const image = await this.executor.imageId();
    if (image !== this.image) {
      this.found = new Set();
      this.asked = new Set();
    }
    const isNew = image !== this.image || lines.some((line) => !this.asked.has(line));
    if (!isNew) return;
    const all = [...new Set([...this.asked, ...lines])];
    this.found = await this.ask(all);
    this.asked = new Set(all);
    this.image = image;
  }

  private async ask(lines: readonly string[]): Promise<ReadonlySet<string>> {
    const signal = AbortSignal.timeout(lookUpMs);
    const sandbox = await this.executor.open({ turnId: 'inventory', sessionId: '' }, signal);
    try {
      const { stdout, exitCode, stderr } = await sandbox.run(
        {
          line: lookUpScript,
          cwd: '',
          env: {},
          stdin: lines.map((line) => `${line}\n`).join(''),
          timeoutMs: lookUpMs,
          outputLimitBytes,
        },
        { signal, onOutput: () => undefined },
      );
      const found = new Set(stdout.text.split('\n').filter((line) => line !== ''));
      const isWhole = exitCode === 0 && stdout.droppedBytes === 0;
      if (isWhole && [...found].some((line) => line.startsWith('os '))) return found;
      throw new SkillmillError(
        'SANDBOX_UNAVAILABLE',
        `What the sandboxes’ image holds could not be read (exit code ${exitCode}): ${stderr.text.slice(0, 200)}`,
      );
    } finally {
      await sandbox.close().catch(() => undefined); // the sweep removes it later
    }
  }
}

/** A name that could be no program or variable is not looked for: it is not there. */
function linesOf({ programs, variables }: Wanted): string[] {
  return [
    ...programs.filter((name) => programName.test(name)).map((name) => `program ${name}`),
    ...variables.filter(isVariable).map((name) => `variable ${name}`),
  ];
}

function isVariable(name: string): boolean {
  return name.length <= maxVariableName && environmentNameRule.test(name);
}
