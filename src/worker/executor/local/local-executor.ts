import { mkdir, mkdtemp, readdir, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorMessage } from '../../../shared/errors/skillmill-error.js';
import type { ExecutorLog } from '../executor-log.js';
import type { Executor, OpenSandbox } from '../executor.js';
import { sandboxUnavailable } from '../sandbox-failure.js';
import { LocalSandbox, type LocalFolders } from './local-sandbox.js';
import { removeTree } from './remove-tree.js';

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

/** An executor that runs commands as processes of this machine in a temporary folder: for development, it isolates nothing. */
export function createLocalExecutor(options: LocalExecutorOptions): Executor {
  const parentDir = options.parentDir ?? tmpdir();
  return {
    name: 'local',
    check: async () => {
      await makeParent(parentDir);
    },
    open: async (_job, signal) => await open(options, parentDir, signal),
    sweep: async (isAlive) => await sweep(options, parentDir, isAlive),
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
  options: LocalExecutorOptions,
  parentDir: string,
  signal: AbortSignal,
): Promise<OpenSandbox> {
  signal.throwIfAborted();
  const parent = await makeParent(parentDir);
  const root = await mkdtemp(join(parent, folderPrefix(options.deployment, options.owner))).catch(
    (thrown: unknown) => {
      throw sandboxUnavailable(`Cannot make a workspace in ${parent}`, thrown);
    },
  );
  const folders = { root, workspace: join(root, 'workspace'), scratch: join(root, 'scratch') };
  const sandbox = new LocalSandbox(folders, options.basePath ?? DEFAULT_PATH);
  try {
    await layOut(folders);
    signal.throwIfAborted();
    return sandbox;
  } catch (thrown) {
    await sandbox.close();
    throw thrown;
  }
}

async function layOut(folders: LocalFolders): Promise<void> {
  for (const name of ['skills', 'work/inputs', 'out', 'runs']) {
    await mkdir(join(folders.workspace, name), { recursive: true });
  }
  await mkdir(folders.scratch);
}

async function sweep(
  options: LocalExecutorOptions,
  parentDir: string,
  isAlive: (owner: string) => Promise<boolean>,
): Promise<number> {
  const known = new Map<string, boolean>([[options.owner, true]]);
  let removed = 0;
  for (const name of await readdir(parentDir).catch(() => [])) {
    const owner = ownerOf(name, options.deployment);
    if (owner === undefined) continue;
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
