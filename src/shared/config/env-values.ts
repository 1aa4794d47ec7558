import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { toAllowedHost } from '../download/allowed-hosts.js';

/** A whole number within bounds; like its neighbours, the schema says in words what the variable may hold. */
export const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be a whole number from ${min} to ${max}`);

/** A URL with one of these protocols. */
export const url = (protocols: readonly string[]) =>
  z.string().refine(
    (text) => {
      const parsed = URL.canParse(text) ? new URL(text) : undefined;
      return parsed !== undefined && protocols.some((protocol) => text.startsWith(`${protocol}//`));
    },
    `must be a URL that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`,
  );

const partsOf = (text: string) => text.split(',').map((part) => part.trim());

/** One Redis, or the nodes of a cluster. */
export const redisUrls = z
  .string()
  .transform(partsOf)
  .pipe(z.array(url(['redis:', 'rediss:'])).min(1));

/** Names, comma-separated; empty ones are left out. */
const names = (what: string) =>
  z
    .string()
    .transform((text) => partsOf(text).filter((part) => part !== ''))
    .refine((list) => list.length > 0, `must name at least one ${what}`);

/** Models, comma-separated. */
export const modelList = names('model');

/** Folders, comma-separated. */
export const pathList = names('folder').refine(
  (paths) => paths.every((path) => !/^https?:/i.test(path)),
  'must be folders: http(s) roots are not supported in this version',
);

/** Absolute folders, comma-separated. */
export const absoluteFolders = names('folder').refine(
  (paths) => paths.every((path) => isAbsolute(path)),
  'must be absolute paths of folders',
);

/** Hosts, with or without a port, or `*`; comma-separated. */
export const hostList = names('host').transform((hosts, context) =>
  hosts.map((host) => {
    const known = toAllowedHost(host);
    if (known === undefined) context.addIssue('must be hosts, each as host, host:port or *');
    return known ?? host;
  }),
);

/** Commands, separated by commas or spaces. */
export const commandList = z
  .string()
  .transform((text) => text.split(/[\s,]+/).filter((part) => part !== ''))
  .refine((list) => list.length > 0, 'must name at least one command');

/** A time in seconds, up to ten years. */
export const seconds = whole(1, 315_360_000);
/** What one timer can hold is 24 days; a day is what a request may ask for. */
export const timerSeconds = whole(1, 86_400);

/** 0 or 1, as false or true. */
export const onOff = z.enum(['0', '1'], 'must be 0 or 1').transform((text) => text === '1');
