import { SkillmillError, errorMessage } from '../../shared/errors/skillmill-error.js';
import type { Logger } from '../../shared/logging/logger.js';
import type { Redactor } from '../../shared/logging/redactor.js';
import { toBusinessTool, type BusinessTool, type ToolPool } from './business-tool.js';
import type { LoadedToolbox } from './load-toolbox.js';
import type { McpLink } from './mcp-link.js';

/** The operator's tools, and the MCP servers that some of them stand on. */
export interface Toolbox {
  /** The tools as they are now; a turn keeps those with which it began. */
  current(): ToolPool;
  /** Ends the connections to MCP servers, and the servers that are processes. */
  close(): Promise<void>;
}

export interface ToolboxContext {
  readonly log: Logger['log'];
  readonly redact: Pick<Redactor, 'text'>;
  /** Reads a variable of the worker's environment. */
  readonly lookUp: (variable: string) => string | undefined;
}

/** Starts what a loaded toolbox stands on. @throws SkillmillError CONFIG_INVALID, all faults at once; nothing runs then */
export async function openToolbox(
  loaded: LoadedToolbox,
  context: ToolboxContext,
): Promise<Toolbox> {
  const { log } = context;
  const own = new Map(loaded.tools.map((tool) => [tool.name, toBusinessTool(tool)]));
  let pool: ToolPool = own;
  let clashes = '';
  const refill = () => {
    const joined = joinTools(own, links);
    pool = joined.pool;
    const names = joined.clashes.join(', ');
    if (names !== '' && names !== clashes) {
      log('warn', `tools of MCP servers are left out, since their names are taken: ${names}`);
    }
    clashes = names;
  };
  const links = await makeLinks(loaded, context, () => refill());
  const started = await Promise.allSettled(links.map((link) => link.start()));
  const close = async () => {
    await Promise.all(links.map((link) => link.close()));
  };
  const faults = [...loaded.faults, ...started.flatMap((end, at) => startFault(links[at], end))];
  if (faults.length > 0) {
    await close();
    const sentence = `SKILLMILL_TOOLBOX ${loaded.path}: ${faults.join('; ')}.`;
    throw new SkillmillError('CONFIG_INVALID', context.redact.text(sentence));
  }
  for (const { name, tools } of links) {
    log('info', `MCP server ${name}: ready`, { tools: tools.map((tool) => tool.definition.name) });
  }
  return { current: () => pool, close };
}

/** What talks MCP is loaded only where there is a server to talk to. */
async function makeLinks(
  { servers }: LoadedToolbox,
  { log, lookUp }: ToolboxContext,
  onTools: () => void,
): Promise<McpLink[]> {
  if (servers.length === 0) return [];
  const { McpLink } = await import('./mcp-link.js');
  const shared = ['PATH', 'HOME'].map((name) => [name, lookUp(name)] as const);
  const baseEnv = Object.fromEntries(
    shared.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  );
  return servers.map((spec) => new McpLink({ spec, baseEnv, log, onTools }));
}

function startFault(link: McpLink | undefined, end: PromiseSettledResult<void>): string[] {
  if (end.status === 'fulfilled' || link === undefined) return [];
  return [`the MCP server ${link.name} cannot be used: ${errorMessage(end.reason)}`];
}

/** The operator's own tools and those of the servers, in this order: the first of a name wins. */
function joinTools(
  own: ToolPool,
  links: readonly McpLink[],
): { pool: ToolPool; clashes: string[] } {
  const pool = new Map<string, BusinessTool>(own);
  const clashes: string[] = [];
  for (const link of links) {
    for (const tool of link.tools) {
      const { definition } = tool;
      if (pool.has(definition.name)) clashes.push(definition.name);
      else
        pool.set(definition.name, { definition, run: (args, call) => link.call(tool, args, call) });
    }
  }
  return { pool, clashes };
}
