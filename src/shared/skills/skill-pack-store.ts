import { randomUUID } from 'node:crypto';
import { mkdtemp, open, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SkillmillError } from '../errors/skillmill-error.js';
import { packTail, unpackSkill, type PackIndex } from './skill-pack.js';
import type { SkillFile } from './skill.js';

const folderPrefix = 'skillmill-skills-';
const cacheBytes = 64 * 1024 * 1024;
const writeBytes = 8 * 1024 * 1024;
// No turn lasts that long: its snapshot may still ask for the pack until then.
const keepSupersededMs = 24 * 60 * 60 * 1_000;

/**
 * Copies of skills' trees, one file per digest, in a private temporary folder. A skill is packed from the very bytes that
 * its digest and its SKILL.md were read from, so a turn can have them long after the root moved on. On disk and not in
 * memory, because 10,000 skills must not cost 10,000 trees of memory; what was read last (64 MiB) is kept.
 */
export class SkillPackStore {
  #folder: Promise<string> | undefined;
  #closed = false;
  readonly #cache = new Map<string, readonly SkillFile[]>();
  #cachedBytes = 0;
  readonly #superseded = new Map<string, number>();

  /** Writes a pack under a digest that is known once all files were read; `files` is read once, one file at a time. */
  async write(files: AsyncIterable<SkillFile>, digest: () => string): Promise<void> {
    const folder = await this.#open();
    const temporary = join(folder, `${randomUUID()}.tmp`);
    const handle = await open(temporary, 'wx', 0o600);
    try {
      const index: PackIndex = [];
      let waiting: Uint8Array[] = [];
      let waitingBytes = 0;
      for await (const { path, executable, content } of files) {
        index.push({ path, executable, bytes: content.byteLength });
        waiting.push(content);
        waitingBytes += content.byteLength;
        if (waitingBytes < writeBytes) continue;
        for (const chunk of waiting) await handle.writeFile(chunk);
        waiting = [];
        waitingBytes = 0;
      }
      await handle.writeFile(Buffer.concat([...waiting, packTail(index)]));
    } catch (thrown) {
      await handle.close();
      await unlink(temporary);
      throw thrown;
    }
    await handle.close();
    await rename(temporary, join(folder, digest()));
  }

  /** The files of a pack, sorted by path; throws INTERNAL when it is gone (closed, or superseded a day ago). */
  async read(digest: string): Promise<readonly SkillFile[]> {
    const cached = this.#cache.get(digest);
    if (cached) {
      this.#cache.delete(digest);
      this.#cache.set(digest, cached);
      return cached;
    }
    const folder = await this.#open();
    const pack = await readFile(join(folder, digest)).catch((cause: unknown) => {
      throw new SkillmillError('INTERNAL', `The copy of the skill with digest ${digest} is gone.`, {
        cause,
      });
    });
    const files = unpackSkill(pack);
    this.#remember(digest, files);
    return files;
  }

  /** Tells which digests are current; packs of others are removed a day after they were last current. */
  async retain(current: ReadonlySet<string>, before: ReadonlySet<string>): Promise<void> {
    const now = Date.now();
    for (const digest of before) if (!current.has(digest)) this.#superseded.set(digest, now);
    for (const digest of current) this.#superseded.delete(digest);
    for (const [digest, since] of this.#superseded) {
      if (now - since < keepSupersededMs) continue;
      this.#superseded.delete(digest);
      await rm(join(await this.#open(), digest), { force: true });
    }
  }

  /** Removes every copy; harmless when called again. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cache.clear();
    const folder = await this.#folder?.catch(() => undefined);
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }

  #open(): Promise<string> {
    if (this.#closed) {
      return Promise.reject(new SkillmillError('INTERNAL', 'The skill repository is closed.'));
    }
    this.#folder ??= makeFolder();
    return this.#folder;
  }

  #remember(digest: string, files: readonly SkillFile[]): void {
    if (this.#cache.has(digest) || sizeOf(files) > cacheBytes / 4) return;
    this.#cache.set(digest, files);
    this.#cachedBytes += sizeOf(files);
    for (const [oldest, old] of this.#cache) {
      if (this.#cachedBytes <= cacheBytes) break;
      this.#cachedBytes -= sizeOf(old);
      this.#cache.delete(oldest);
    }
  }
}

function sizeOf(files: readonly SkillFile[]): number {
  return files.reduce((sum, file) => sum + file.content.byteLength, 0);
}

async function makeFolder(): Promise<string> {
  await sweep();
  return mkdtemp(join(tmpdir(), `${folderPrefix}${process.pid}-`));
}

/** Removes what processes left that were killed before they could close: those whose process is gone, a day old. */
async function sweep(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = name.startsWith(folderPrefix)
      ? Number.parseInt(name.slice(folderPrefix.length), 10)
      : NaN;
    if (Number.isNaN(pid) || isAlive(pid)) continue;
    const folder = join(tmpdir(), name);
    const stats = await stat(folder).catch(() => undefined);
    if (!stats || Date.now() - stats.mtimeMs < keepSupersededMs) continue;
    await rm(folder, { recursive: true, force: true }).catch(() => undefined); // another user's: not ours to remove
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
