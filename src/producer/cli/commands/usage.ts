import type { Command } from 'commander';
import type { UsageReport, UsageRow } from '../../../shared/usage/usage-report.js';
import type { CommandContext } from '../command-context.js';
import { openClient } from '../open-client.js';
import { shown } from './skills-lines.js';

interface UsageOptions {
  readonly by: 'model' | 'session' | 'skill' | 'tenant';
  readonly since?: string;
  readonly until?: string;
  readonly session?: string;
  readonly tenant?: string;
  readonly json?: boolean;
}

/** `skillmill usage`: what turns have used, and what it cost. */
export function addUsageCommand(program: Command, context: CommandContext): void {
  program
    .command('usage')
    .description('report model calls, tokens and cost')
    .option('--by <what>', 'session, tenant, model or skill', 'model')
    .option('--since <date>', 'first day, UTC (default: 30 days in all)')
    .option('--until <date>', 'last day, UTC (default: today)')
    .option('--session <id>', 'of this session only')
    .option('--tenant <name>', 'of this tenant (default: SKILLMILL_TENANT; by tenant: all)')
    .option('--json', 'print { by, since, until, rows, total } as JSON')
    .action(async ({ json, session, ...query }: UsageOptions) => {
      await using client = await openClient();
      const of = session === undefined ? {} : { sessionId: session };
      const report = await client.usage({ ...query, ...of });
      if (json === true) context.stdout(`${JSON.stringify(report, null, 2)}\n`);
      else printTable(context, report);
    });
}

function printTable(context: CommandContext, { by, since, until, rows, total }: UsageReport): void {
  context.stderr(`by ${by}, ${since} to ${until} (UTC)`);
  if (rows.length === 0) {
    context.stderr('no usage');
    return;
  }
  const head = [by, 'calls', 'input', 'cached', 'output', 'USD'];
  const body = [...rows, ...(total === null ? [] : [total])];
  context.stdout(aligned([head, ...body.map(cellsOf)]));
  const sum = (count: (row: UsageRow) => number) => rows.reduce((all, row) => all + count(row), 0);
  const unpriced = sum((row) => row.unpricedCalls);
  const estimated = sum((row) => row.estimatedCalls);
  if (unpriced > 0) context.stderr(`without a price, so not in USD: ${unpriced} calls`);
  if (estimated > 0) context.stderr(`tokens counted here, not by the endpoint: ${estimated} calls`);
}

function cellsOf(row: UsageRow): string[] {
  const { modelCalls, inputTokens, cachedInputTokens, outputTokens, costUsd } = row;
  const counts = [modelCalls, inputTokens, cachedInputTokens, outputTokens].map(String);
  return [shown(row.name), ...counts, costUsd === null ? '-' : costUsd.toFixed(4)];
}

/** Names to the left, numbers to the right. */
function aligned(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((cells) => cells[column]?.length ?? 0)),
  );
  return lines
    .map((cells) => {
      const padded = cells.map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      );
      return `${padded.join('  ')}\n`;
    })
    .join('');
}
