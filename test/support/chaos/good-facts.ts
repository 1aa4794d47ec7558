import { createHash } from 'node:crypto';
import { turnResultSchema, messageSchema } from '../../../src/shared/contracts/index.js';
import type { TurnPlan } from './chaos-plan.js';
import type { ChaosFacts, LedgerLine, StreamEntry } from './facts.js';

/** Facts that can be changed: what the tests of the checks spoil. */
export type OpenFacts = {
  -readonly [Field in keyof ChaosFacts]: ChaosFacts[Field] extends ReadonlyMap<infer K, infer V>
    ? Map<K, V>
    : ChaosFacts[Field];
};

const tag = '0'.repeat(16);
/** The id of the nth turn. */
export const turnIdOf = (n: number): string => `turn_${tag}_${String(n).padStart(20, '0')}`;
export const sessionId = 'chaos-0';

/** What a run of two turns leaves when all goes well; each calls the ledger once and adds one link. */
export function goodFacts(): OpenFacts {
  const chain = new ChainMaker();
  const turns = [0, 1].map((n) => turnFacts(n, chain));
  const mapOf = <T>(pick: (turn: (typeof turns)[number]) => T) =>
    new Map(turns.map((turn) => [turn.turnId, pick(turn)] as const));
  return {
    accepted: turns.map(({ turnId, plan }) => ({ turnId, plan, cancel: undefined })),
    results: mapOf(({ result }) => result),
    events: mapOf(({ events }) => events),
    histories: new Map([[sessionId, turns.flatMap(({ messages }) => messages)]]),
    chains: new Map([[sessionId, chain.text]]),
    ledger: turns.flatMap(({ ledger }) => ledger),
    shown: new Map(turns.map(({ callKey, run }) => [callKey, new Set([run])] as const)),
    killed: new Map(),
    crashes: [],
    modelFaults: [],
    lastingKeys: ['{skillmill-queue}:turns:meta'],
  };
}

/** Makes links as the skill's script does. */
export class ChainMaker {
  text = '';
  #head = '0'.repeat(64);
  #length = 0;

  /** Adds a link; gives what the command prints. */
  add(turn: string, call: string, random: string): string {
    const fields = [this.#head, turn, call, random].join(' ');
    this.#head = createHash('sha256').update(fields).digest('hex');
    this.#length += 1;
    this.text += `${fields} ${this.#head}\n`;
    return JSON.stringify({ turn, call, random, head: this.#head, length: this.#length });
  }
}

function turnFacts(n: number, chain: ChainMaker) {
  const turnId = turnIdOf(n);
  const text = `0-${n}`;
  const plan: TurnPlan = {
    ...{ sessionId, text, cancelAt: undefined },
    steps: [[{ n: 1, tool: 'ledger' }], [{ n: 2, tool: 'link' }]],
  };
  const callKey = `${turnId}_call_1`;
  const run = `run of ${text}`;
  const from = 1000 * (n + 1);
  const line = { run, callKey, turnId, sessionId, pid: 7 };
  const ledger: LedgerLine[] = [
    { kind: 'start', ...line, at: from },
    { kind: 'end', ...line, at: from + 50 },
  ];
  const stdout = chain.add(text, '2', `random-of-${text}`);
  const answers = [
    { run, callKey, call: 1 },
    { stdout, exit_code: 0 },
  ];
  const result = resultOf(turnId, text, answers);
  const events = [
    { type: 'turn.queued' },
    { type: 'turn.started' },
    { type: 'tool.started', callId: 'call_1' },
    { type: 'tool.started', callId: 'call_2' },
    { type: 'turn.completed', result },
  ].map((body, index): StreamEntry => ({ seq: index + 1, at: from + index * 100, ...body }));
  const messages = messagesOf(turnId, text, answers);
  return { turnId, plan, callKey, run, ledger, result, events, messages };
}

const names = ['ledger', 'skill_run'];

function resultOf(turnId: string, text: string, answers: readonly unknown[]) {
  return turnResultSchema.parse({
    ...{ turnId, sessionId, status: 'completed', output: `done ${text}`, error: null },
    toolCalls: answers.map((result, index) => ({
      ...{ id: `call_${index + 1}`, name: names[index], arguments: {}, result },
      ...{ error: null, durationMs: 1, attempt: 1 },
    })),
    artifacts: [],
    usage: { modelCalls: 3, toolCalls: 2, inputTokens: 1, cachedInputTokens: 0, outputTokens: 1 },
    timings: { queuedMs: 1, modelMs: 1, toolMs: 1, totalMs: 3 },
    ...{ attempts: 1, skills: [], metadata: {} },
  });
}

function messagesOf(turnId: string, text: string, answers: readonly unknown[]) {
  const said = answers.flatMap((answer, index) => {
    const id = `${text}_${index + 1}_0`;
    const name = names[index] ?? '';
    return [
      { role: 'assistant', content: null, toolCalls: [{ id, name, arguments: '{}' }] },
      { role: 'tool', toolCallId: id, name, content: JSON.stringify(answer) },
    ];
  });
  const last = { role: 'assistant', content: `done ${text}`, toolCalls: [] };
  return [{ role: 'user', content: text }, ...said, last].map((message) =>
    messageSchema.parse({ turnId, ...message }),
  );
}
