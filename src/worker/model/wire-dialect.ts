/** What can be left out of a request, or said otherwise, for an endpoint that refuses it. */
export type Feature =
  | 'stream'
  | 'stream_options'
  | 'temperature'
  | 'tool_choice'
  | 'reasoning_content'
  | 'reasoning_details'
  | 'extra_content'
  | 'max_tokens'
  | 'max_completion_tokens';

/** Fields that a refusal may name. */
const droppable: readonly Feature[] = [
  'stream_options',
  'stream',
  'temperature',
  'tool_choice',
  'reasoning_content',
  'reasoning_details',
  'extra_content',
  'max_completion_tokens',
  'max_tokens',
];

/** How servers say that they do not know a field, as opposed to a value that is too large. */
const refusal =
  /unsupported|not support|n't support|unrecognized|unknown|unexpected|extra (inputs|fields)|not permitted|not allowed|additional propert|extra_forbidden|only the default/i;

/**
 * What has been learnt of one endpoint and model: a request is written for it, and when it refuses a field by name, the
 * next one goes without. Kept in memory: a worker learns it again after a restart, at the price of one refused call.
 */
export class WireDialect {
  private readonly refused = new Set<Feature>();
  private readonly prefersNewLimit: boolean;

  constructor(baseUrl: string) {
    // OpenAI's and Azure's newer models refuse the old name of the output limit; many other servers know only that one.
    this.prefersNewLimit = /(^|\.)(openai\.com|azure\.com)$/.test(new URL(baseUrl).hostname);
  }

  takes(feature: Feature): boolean {
    return !this.refused.has(feature);
  }

  /** The name of the output limit; undefined when neither is taken. */
  get limitField(): 'max_completion_tokens' | 'max_tokens' | undefined {
    const names = ['max_tokens', 'max_completion_tokens'] as const;
    const ordered = this.prefersNewLimit ? [...names].reverse() : names;
    return ordered.find((name) => this.takes(name));
  }

  /** Learns from a refusal (status 400 or 422); true when the next request will be another one. */
  learn(message: string, sent: Readonly<Record<string, unknown>>): boolean {
    if (!refusal.test(message)) return false;
    const named = firstNamed(message);
    // Another call may have learnt it meanwhile: what counts is whether this one sent it.
    if (named === undefined || !isSent(sent, named)) return false;
    this.refused.add(named);
    return true;
  }
}

/** The field that a refusal names first: what it names after that, it may only propose. */
function firstNamed(message: string): Feature | undefined {
  const words = message.match(/[a-z_]+/g) ?? [];
  return words.flatMap((word) => droppable.find((name) => name === word) ?? [])[0];
}

/** Was this field sent, at the top or within a message? Tools' parameters may have the same names. */
function isSent(sent: Readonly<Record<string, unknown>>, name: Feature): boolean {
  if (Object.hasOwn(sent, name)) return sent[name] !== false;
  return JSON.stringify(sent['messages'] ?? []).includes(`"${name}":`);
}
