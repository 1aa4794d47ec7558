import { InvalidArgumentError, type Command } from 'commander';
import type { GarbageCount, GarbageReport } from '../../../shared/garbage/garbage-count.js';
import type { CommandContext } from '../command-context.js';
import { openClient } from '../open-client.js';

interface GcOptions {
  readonly grace?: number;
  readonly dryRun?: boolean;
  readonly takeOver?: boolean;
  readonly json?: boolean;
}

/** `skillmill gc`: removes the stored files that nothing refers to. */
export function addGcCommand(program: Command, context: CommandContext): void {
  program
    .command('gc')
    .description('remove stored files that no session, result or running turn refers to')
    .option(
      '--grace <seconds>',
      'leave alone what was stored later than this (default: SKILLMILL_GC_GRACE)',
      graceSeconds,
    )
    .option('--dry-run', 'remove nothing, say what would be')
    .option('--take-over', 'collect in a store that another deployment has claimed')
    .option(
      '--json',
      'print { dryRun, references, store, storeSkipped, unfinished, redis } as JSON',
    )
    .action(async ({ json, grace, dryRun = false, takeOver = false }: GcOptions) => {
      await using client = await openClient();
      const graces = grace === undefined ? {} : { graceSeconds: grace };
      const report = await client.collectGarbage({ ...graces, dryRun, takeOver });
      if (report.storeSkipped !== null) context.stderr(report.storeSkipped);
      context.stdout(json === true ? `${JSON.stringify(report, null, 2)}\n` : linesOf(report));
    });
}

function graceSeconds(text: string): number {
  const seconds = Number(text);
  if (/^\d{1,9}$/.test(text) && seconds > 0) return seconds;
  throw new InvalidArgumentError('It is a whole number of seconds, at least 1.');
}

function linesOf({ dryRun, store, redis, unfinished }: GarbageReport): string {
  const lines = [lineOf('Redis', redis, dryRun)];
  if (store !== null) lines.push(lineOf('store', store, dryRun));
  if (unfinished > 0) lines.push(`store: ${unfinished} uploads that never ended removed`);
  return `${lines.join('\n')}\n`;
}

function lineOf(place: string, { seen, kept, removed }: GarbageCount, dryRun: boolean): string {
  const said = (what: string, { blobs, bytes }: GarbageCount['seen']) =>
    `${blobs} ${what} (${bytes} bytes)`;
  const gone = dryRun ? 'would be removed' : 'removed';
  return `${place}: ${[said('seen', seen), said('kept', kept), said(gone, removed)].join(', ')}`;
}
