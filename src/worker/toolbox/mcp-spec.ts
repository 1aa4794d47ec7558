import { z } from 'zod';
import { describeFaults, inputFaults } from '../../shared/errors/describe-issues.js';
import type { McpServer } from './define-mcp-server.js';

/** What a timer of Node can wait. */
const longestMs = 2 ** 31 - 1;

const milliseconds = z.int('must be a whole number').min(1).max(longestMs);
const plainText = z.string().regex(/^[^\0]*$/, 'must not hold a NUL character');
const variableName = z.string().regex(/^[^=\0]+$/, 'is no name for a variable');

const common = {
  name: z.string(),
  tools: z.array(z.string()).optional(),
  timeoutMs: milliseconds.default(60_000),
  startTimeoutMs: milliseconds.default(30_000),
};

const stdioSchema = z.strictObject({
  ...common,
  url: z.undefined().optional(),
  command: plainText.min(1, 'must not be empty'),
  args: z.array(plainText).default([]),
  env: z.record(variableName, plainText).default({}),
  cwd: plainText.optional(),
});

const httpSchema = z.strictObject({
  ...common,
  command: z.undefined().optional(),
  url: z
    .string()
    .refine(isHttpUrl, 'must be an http:// or https:// URL without a user name or password'),
  headers: z
    .record(z.string(), z.string())
    .default({})
    .superRefine((headers, context) => {
      for (const [name, value] of Object.entries(headers)) {
        if (!isHeader(name, value)) {
          context.addIssue({ code: 'custom', path: [name], message: 'cannot be sent as a header' });
        }
      }
    }),
});

export type StdioSpec = z.output<typeof stdioSchema>;
export type HttpSpec = z.output<typeof httpSchema>;

/** An MCP server's definition, once checked. */
export type McpSpec = StdioSpec | HttpSpec;

/** The servers that can be started, and what is wrong with the others. No fault holds a variable's or a header's value. */
export function checkMcpServers(servers: readonly McpServer[]): {
  specs: McpSpec[];
  faults: string[];
} {
  const specs: McpSpec[] = [];
  const faults: string[] = [];
  for (const { definition } of servers) {
    const wanted: unknown = definition; // a module in JavaScript may have written anything
    const parsed = hasField(wanted, 'url')
      ? httpSchema.safeParse(wanted)
      : stdioSchema.safeParse(wanted);
    const name = hasField(wanted, 'name') ? wanted.name : undefined;
    const called = `MCP server ${JSON.stringify(name)}`;
    if (!parsed.success) {
      faults.push(`${called}: ${describeFaults(inputFaults(parsed.error))}`);
      continue;
    }
    const fault = serverNameFault(parsed.data.name);
    if (fault !== undefined) faults.push(`${called}: ${fault}`);
    else if (specs.some((spec) => spec.name === name)) faults.push(`${called} is there twice`);
    else specs.push(parsed.data);
  }
  return { specs, faults };
}

/** Values of the servers' variables and headers whose names say that they are secret. */
export function secretsOfServers(specs: readonly McpSpec[]): string[] {
  const entries = specs.flatMap((spec) =>
    Object.entries(spec.url === undefined ? spec.env : spec.headers),
  );
  const secret = entries.filter(([name]) => secretName.test(name)).map(([, value]) => value);
  // `Bearer …`: the token alone is as secret.
  return secret.flatMap((value) => [value, ...(/^\S+ (\S+)$/.exec(value)?.slice(1) ?? [])]);
}

const secretName =
  /key|token|secret|pass|pwd|auth|cred|cookie|session|signature|private|dsn|connection/i;

function serverNameFault(name: string): string | undefined {
  if (!/^[A-Za-z0-9_-]{1,40}$/.test(name)) {
    return 'its name must be 1–40 of letters, digits, _ and -';
  }
  return `${name}__`.startsWith('skill_') ? 'names that begin with skill_ are taken' : undefined;
}

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

function isHeader(name: string, value: string): boolean {
  try {
    new Headers([[name, value]]);
    return true;
  } catch {
    return false;
  }
}

function hasField<Name extends string>(
  value: unknown,
  name: Name,
): value is Readonly<Record<Name, unknown>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    name in value &&
    Object.getOwnPropertyDescriptor(value, name)?.value !== undefined
  );
}
