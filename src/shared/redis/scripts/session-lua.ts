import { z } from 'zod';

/** sessionOf(messages, skillState, artifacts, workspace): what is kept of a session, for a reply that `storedSession` reads. */
export const sessionLua = `
local function sessionOf(messages, skillState, artifacts, workspace)
  return { redis.call('LRANGE', messages, 0, -1), redis.call('HGETALL', skillState), redis.call('LRANGE', artifacts, 0, -1),
    redis.call('GET', workspace) }
end
`;

const named = z
  .array(z.string())
  .transform((flat) =>
    Object.fromEntries(
      flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? '']] : [])),
    ),
  );

/** Messages (JSON each), names and values of the skill state alternating, artifacts (JSON each), workspace version (JSON) or nil. */
export const storedSession = z
  .tuple([z.array(z.string()), named, z.array(z.string()), z.string().nullable()])
  .transform(([messages, skillState, artifacts, workspace]) => ({
    ...{ messages, skillState, artifacts },
    workspace: workspace ?? undefined,
  }));

/** A session as Redis keeps it. */
export type StoredSession = z.infer<typeof storedSession>;
