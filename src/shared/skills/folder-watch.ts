import { existsSync, watch, type FSWatcher } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';

// About 2 KiB each, here and in the kernel.
const maxFolders = 100_000;
const leastLookMs = 2_000;
// Looks that the watch made needless may cost 2 % of the time.
const lookShare = 50;
// File systems whose changes come from elsewhere without an event: NFS, CIFS, SMB2, FUSE (also virtiofs), 9p, AFS, Ceph.
const remoteTypes: ReadonlySet<number> = new Set([
  0x6969, 0xff534d42, 0xfe534d42, 0x65735546, 0x01021997, 0x5346414f, 0x00c36400,
]);

/**
 * Says when a look at the folders can be spared. It only ever saves work: where watching fails (too many folders, a
 * remote file system), every question is answered with a look.
 */
export class FolderWatch {
  readonly #watchers = new Map<string, FSWatcher>();
  #roots = '';
  #isRemote = false;
  #canWatch = true;
  #isQuiet = false;
  #events = 0;
  #eventsAtLook = -1;
  #lookAgainAt = 0;

  /** Has nothing happened in these roots since the last look? */
  async isQuiet(roots: readonly string[]): Promise<boolean> {
    if (!this.#isQuiet || !this.#canWatch || this.#isRemote || this.#roots !== roots.join('\0')) {
      this.#eventsAtLook = this.#events;
      return false;
    }
    // Events wait in the kernel from the moment of the change on; two rounds of the event loop bring all of them.
    await setImmediate();
    await setImmediate();
    const isQuiet = this.#events === this.#eventsAtLook && Date.now() < this.#lookAgainAt;
    this.#eventsAtLook = this.#events;
    return isQuiet;
  }

  /** Watches these folders and no others. A folder that is new needs one more look, since it may have changed before its watch began. */
  async follow(roots: readonly string[], folders: ReadonlySet<string>): Promise<void> {
    this.#roots = roots.join('\0');
    this.#isRemote = (await Promise.all(roots.map(isRemote))).includes(true);
    this.#isQuiet = true;
    if (folders.size > maxFolders) this.#giveUp();
    for (const [folder, watcher] of this.#watchers) {
      if (folders.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of folders) {
      if (!this.#canWatch || this.#isRemote) break;
      if (this.#watchers.has(folder)) continue;
      this.#isQuiet = false;
      this.#add(folder);
    }
  }

  /** Notes what the last look cost, in milliseconds, and whether it was final. */
  looked(costMs: number, isSettled: boolean): void {
    this.#lookAgainAt = Date.now() + Math.max(leastLookMs, costMs * lookShare);
    if (!isSettled) this.#isQuiet = false;
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
    this.#isQuiet = false;
  }

  #add(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#events++);
      watcher.on('error', () => this.#giveUp());
      this.#watchers.set(folder, watcher);
    } catch {
      // The folder is gone, which the next look will see; or this machine has no more watches.
      if (existsSync(folder)) this.#giveUp();
    }
  }

  #giveUp(): void {
    this.close();
    this.#canWatch = false;
  }
}

async function isRemote(folder: string): Promise<boolean> {
  return statfs(folder).then(
    ({ type }) => remoteTypes.has(type),
    () => true,
  );
}
