import { randomUUID } from 'node:crypto';
import { mkdir, readdir, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { errorMessage } from '../../../shared/errors/skillmill-error.js';
import { within } from '../../async/deadline.js';
import type { ExecutorLog } from '../executor-log.js';
import type { Executor, OpenSandbox } from '../executor.js';
import { sandboxUnavailable } from '../sandbox-failure.js';
import { LocalSandbox, type LocalFolders } from './local-sandbox.js';
import { removeTree } from './remove-tree.js';
import { untilAbort } from '../../async/until-abort.js';

/** How long a failed opening waits for the removal of what it made; after it the removal goes on alone. */
const FAILED_REMOVAL_MS = 2000;
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Whose workspaces these are, and where they lie. */
export interface LocalExecutorOptions {
  /** The worker that makes them. */
  readonly owner: string;
  /** The deployment (its Redis) that the worker serves. */
  readonly deployment: string;
  /** The folder for temporary workspaces; the system's when absent. */
  readonly parentDir?: string | undefined;
  /** PATH of the commands. */
  readonly basePath?: string | undefined;
  readonly log?: ExecutorLog | undefined;
}

/** What all workspaces of one executor share. */
interface Making {
  readonly options: LocalExecutorOptions;
  readonly parentDir: string;
  /** Names of the folders that are open or being opened: one of ours that is not among them was left over. */
  readonly open: Set<string>;
}

/** An executor that runs commands as processes of this machine in a temporary folder: for development, it isolates nothing. */
export function createLocalExecutor(options: LocalExecutorOptions): Executor {
  const parentDir = options.parentDir ?? tmpdir();
  const making: Making = { options, parentDir, open: new Set() };
  return {
    name: 'local',
    check: async () => {
      await makeParent(parentDir);
    },
    imageId: () => Promise.resolve('this machine'),
    warmUp: () => undefined,
    open: async (_job, signal, opening = signal) => await open(making, signal, opening),
    sweep: async (isAlive) => await sweep(making, isAlive),
    close: () => Promise.resolve(),
  };
}

async function makeParent(parentDir: string): Promise<string> {
  try {
    await mkdir(parentDir, { recursive: true });
    return await realpath(parentDir);
  } catch (thrown) {
    throw sandboxUnavailable(`Cannot make workspaces in ${parentDir}`, thrown);
  }
}

async function open(
  making: Making,
  signal: AbortSignal,
  opening: AbortSignal,
): Promise<OpenSandbox> {
  opening.throwIfAborted();
  const { options, open: opened } = making;
  const parent = await untilAbort(makeParent(making.parentDir), opening);
  const root = join(parent, `${folderPrefix(options.deployment, options.owner)}${randomUUID()}`);
  const folders = { root, workspace: join(root, 'workspace'), scratch: join(root, 'scratch') };
  const sandbox = new LocalSandbox(folders, {
    basePath: options.basePath ?? DEFAULT_PATH,
    signal,
    onClosed: () => opened.delete(basename(root)),
  });
  opened.add(basename(root));
  const laidOut = layOut(folders);
  try {
    await untilAbort(laidOut, opening);
    return sandbox;
  } catch (thrown) {
    const removal = laidOut.catch(() => undefined).then(() => sandbox.close());
    const told = removal.catch((failure: unknown) => {
      const fields = { root, failure: errorMessage(failure) };
      options.log?.('warn', 'a workspace that could not be opened cannot be removed', fields);
    });
    await within(told, FAILED_REMOVAL_MS);
    throw thrown;
  }
}

async function layOut(folders: LocalFolders): Promise<void> {
  await mkdir(folders.root, { mode: 0o700 }).catch((thrown: unknown) => {
    throw sandboxUnavailable(`Cannot make the workspace ${folders.root}`, thrown);
  });
  for (const name of ['skills', 'work/inputs', 'out', 'runs']) {
    await mkdir(join(folders.workspace, name), { recursive: true });
  }
  await mkdir(folders.scratch);
}

async function sweep(
  { options, parentDir, open: opened }: Making,
  isAlive: (owner: string) => Promise<boolean>,
): Promise<number> {
  const known = new Map<string, boolean>([[options.owner, false]]);
  let removed = 0;
  for (const name of await readdir(parentDir).catch(() => [])) {
    const owner = ownerOf(name, options.deployment);
    if (owner === undefined || opened.has(name)) continue;
    const alive = known.get(owner) ?? (await isAlive(owner));
    known.set(owner, alive);
    if (alive) continue;
    try {
      await removeTree(join(parentDir, name));
      removed += 1;
    } catch (thrown) {
      options.log?.('warn', `a workspace cannot be removed: ${errorMessage(thrown)}`, { name });
    }
  }
  return removed;
}

/** `skillmill.DEPLOYMENT.OWNER.RANDOM`, both in base64url, which holds no dot. */
function folderPrefix(deployment: string, owner: string): string {
  return `skillmill.${encode(deployment)}.${encode(owner)}.`;
}

function ownerOf(folder: string, deployment: string): string | undefined {
  const [product, itsDeployment, owner, random] = folder.split('.');
  if (product !== 'skillmill' || itsDeployment !== encode(deployment)) return undefined;
  if (owner === undefined || random === undefined) return undefined;
  return Buffer.from(owner, 'base64url').toString('utf8');
}

function encode(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64url');
}
