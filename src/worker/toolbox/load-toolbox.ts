import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SkillmillError, errorMessage } from '../../shared/errors/skillmill-error.js';
import { toolNameFault } from './business-tool.js';
import { isMcpServer, type McpServer } from './define-mcp-server.js';
import { isToolboxTool, type ToolboxTool } from './define-tool.js';
import { checkMcpServers, type McpSpec } from './mcp-spec.js';

/** What the operator's module offers; nothing of it runs yet. */
export interface LoadedToolbox {
  readonly path: string;
  readonly tools: readonly ToolboxTool[];
  readonly servers: readonly McpSpec[];
  /** What is wrong with the rest. */
  readonly faults: readonly string[];
}

/** Loads the module that SKILLMILL_TOOLBOX names, if it names one. @throws SkillmillError CONFIG_INVALID when it cannot be loaded */
export async function loadToolbox(path: string | undefined): Promise<LoadedToolbox> {
  if (path === undefined) return { path: '', tools: [], servers: [], faults: [] };
  let module: unknown;
  try {
    module = await import(pathToFileURL(resolve(path)).href);
  } catch (error) {
    throw new SkillmillError(
      'CONFIG_INVALID',
      `SKILLMILL_TOOLBOX ${path} could not be loaded: ${errorMessage(error)}.`,
      { cause: error },
    );
  }
  const exported = exportsOf(module);
  return checkToolbox(path, exported.filter(isToolboxTool), exported.filter(isMcpServer));
}

/** Everything that a module exports: by itself, in a list, or in the default export. */
function exportsOf(module: unknown): unknown[] {
  const exported = typeof module === 'object' && module !== null ? Object.values(module) : [];
  const found = exported.flatMap((value: unknown): unknown[] =>
    Array.isArray(value) ? value : [value],
  );
  return [...new Set(found)];
}

/** What of this can be used, and what is wrong with the rest. */
export function checkToolbox(
  path: string,
  tools: readonly ToolboxTool[],
  servers: readonly McpServer[],
): LoadedToolbox {
  const names = tools.map((tool) => tool.name);
  const repeated = names.filter((name, index) => names.indexOf(name) !== index);
  const { specs, faults } = checkMcpServers(servers);
  return {
    path,
    tools,
    servers: specs,
    faults: [
      ...(tools.length + servers.length === 0
        ? ['it exports no tool; make tools with defineTool or defineMcpServer']
        : []),
      ...names.flatMap((name) => toolNameFault(name) ?? []),
      ...repeated.map((name) => `${name} is there twice`),
      ...faults,
    ],
  };
}
