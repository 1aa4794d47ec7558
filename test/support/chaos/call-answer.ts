import { z } from 'zod';

const ledgerRun = z.object({ run: z.string(), callKey: z.string(), call: z.int() });
const link = z.object({
  turn: z.string(),
  call: z.string(),
  random: z.string(),
  head: z.string(),
  length: z.int(),
});

/** What a tool call of a chaos run was answered, as the model and the history have it. */
export interface CallAnswer {
  /** Did the call do what it was to do? */
  readonly isGood: boolean;
  /** The run of the ledger tool that answered. */
  readonly run?: z.infer<typeof ledgerRun>;
  /** The link that the command added. */
  readonly link?: z.infer<typeof link>;
}

/** Reads a tool message. */
export function answerOf(content: string): CallAnswer {
  const parsed = parseJson(content);
  const run = ledgerRun.safeParse(parsed);
  if (run.success) return { isGood: true, run: run.data };
  const command = z.object({ stdout: z.string(), exit_code: z.literal(0) }).safeParse(parsed);
  const added = link.safeParse(command.success ? parseJson(command.data.stdout) : undefined);
  return added.success ? { isGood: true, link: added.data } : { isGood: false };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
