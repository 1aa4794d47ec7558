import { z } from 'zod';
import type { ToolDefinition } from '../model/model.js';
import { toolNameFault } from './business-tool.js';
import type { ListedTools } from './mcp-call.js';
import type { McpSpec } from './mcp-spec.js';
import { plainSize } from './plain-size.js';

/** A tool of an MCP server. */
export interface RemoteTool {
  /** What its server calls it. */
  readonly remoteName: string;
  /** As the model sees it: its name is `server__tool`. */
  readonly definition: ToolDefinition;
}

/** A definition goes into every request that lists it. */
const maxDefinitionBytes = 64 * 1024;
const maxNamesTold = 20;

const nameSchema = z.looseObject({ name: z.string().min(1) });
const toolSchema = z.looseObject({
  description: z.string().nullish(),
  title: z.string().nullish(),
  inputSchema: z.looseObject({ type: z.literal('object') }),
});

/** The tools of a list that can be offered, and a sentence on each kind of those that cannot. What a server gives is never the operator's fault. */
export function readTools(
  { name: server, tools: wanted }: Pick<McpSpec, 'name' | 'tools'>,
  { tools: listed, isWhole }: ListedTools,
): { tools: RemoteTool[]; warnings: string[] } {
  const found = new Map<string, RemoteTool>();
  const offered = new Set<string>();
  const leftOut = { name: new Set<string>(), schema: new Set<string>(), twice: new Set<string>() };
  for (const candidate of listed) {
    const remoteName = nameSchema.safeParse(candidate).data?.name;
    if (remoteName === undefined) continue;
    offered.add(remoteName);
    if (wanted !== undefined && !wanted.includes(remoteName)) continue;
    const name = `${server}__${remoteName}`;
    const definition = definitionOf(name, candidate);
    if (toolNameFault(name) !== undefined) leftOut.name.add(remoteName);
    else if (definition === undefined) leftOut.schema.add(remoteName);
    else if (found.has(remoteName)) leftOut.twice.add(remoteName);
    else found.set(remoteName, { remoteName, definition });
  }
  const missing = (wanted ?? []).filter((name) => !offered.has(name));
  const warnings = [
    told(`left out, since server__tool must be 1–64 of letters, digits, _ and -`, leftOut.name),
    told('left out, since their input schema is none for an object, or too large', leftOut.schema),
    told('there more than once; the first is used', leftOut.twice),
    told('in the list of wanted tools, but the server has no such tools', missing),
    ...(isWhole ? [] : ['it has more tools than can be used; the last are left out']),
    ...(listed.length === 0 ? ['it offers no tools'] : []),
  ];
  return { tools: [...found.values()], warnings: warnings.filter((warning) => warning !== '') };
}

function definitionOf(name: string, candidate: unknown): ToolDefinition | undefined {
  const { data } = toolSchema.safeParse(candidate);
  if (data === undefined) return undefined;
  const description = data.description ?? data.title ?? '';
  // Some endpoints refuse an object without `properties`.
  const definition = { name, description, parameters: { properties: {}, ...data.inputSchema } };
  const size = plainSize(definition);
  return size === undefined || size > maxDefinitionBytes ? undefined : definition;
}

function told(what: string, names: Iterable<string>): string {
  const all = [...names].map((name) => name.slice(0, 100));
  if (all.length === 0) return '';
  const more = all.length - maxNamesTold;
  return `${what}: ${all.slice(0, maxNamesTold).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
