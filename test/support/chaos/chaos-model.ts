import {
  startScriptedModel,
  textOf,
  type Reply,
  type ScriptedModel,
  type Step,
  type WireMessage,
} from '../../../examples/scripted-model.js';
import { randomNumbers, seedOf } from '../random-numbers.js';
import { answerOf, type CallAnswer } from './call-answer.js';
import type { PlannedCall, TurnPlan } from './chaos-plan.js';

/** The model of a chaos run, and what it was shown. */
export interface ChaosModel {
  readonly server: ScriptedModel;
  /** The runs of each ledger call whose answers it has seen, by the call's key. */
  readonly shown: ReadonlyMap<string, ReadonlySet<string>>;
  /** How many requests came. */
  readonly calls: () => number;
}

/** More replies than a turn can need. */
const mostReplies = 40;
const mostTries = 5;
/** A model call and a ledger call take up to so long: waiting costs no CPU, and gives deaths a chance in the midst of it. */
const longestMs = 200;

/** Starts a model server that plays the plans. Its answers follow from the request alone, so that one made again gets the same. */
export async function startChaosModel(
  plans: readonly TurnPlan[],
  seed: number,
): Promise<ChaosModel> {
  const shown = new Map<string, Set<string>>();
  let calls = 0;
  const stepsOf = new Map<string, Step[]>(
    plans.map((plan) => [
      plan.text,
      Array.from({ length: mostReplies }, (_, made): Step => ({ messages }) => {
        calls += 1;
        server.requests.length = 0; // thousands of histories
        const own = messagesOf(plan, messages);
        for (const answer of answersOf(own).values()) note(shown, answer);
        const random = randomNumbers(seedOf(`${seed} ${plan.text} ${made}`));
        return { ...nextReply(plan, own, random), delayMs: Math.round(random() * longestMs) };
      }),
    ]),
  );
  const server = await startScriptedModel((text) => stepsOf.get(text));
  return { server, shown, calls: () => calls };
}

/** What the model says next in a turn: a call that was answered with a failure again, else the next step. */
export function nextReply(
  plan: TurnPlan,
  messages: readonly WireMessage[],
  random: () => number,
): Reply {
  const answers = answersOf(messages);
  let [step, tries] = [0, 0];
  let due: readonly PlannedCall[] = plan.steps[0] ?? [];
  const made = messages.filter(({ tool_calls }) => (tool_calls ?? []).length > 0).length;
  for (let reply = 0; reply < made; reply += 1) {
    const asked = tries;
    const failed = due.filter(({ n }) => answers.get(callId(plan, n, asked))?.isGood !== true);
    tries = failed.length > 0 ? tries + 1 : 0;
    if (failed.length === 0) step += 1;
    due = failed.length > 0 ? failed : (plan.steps[step] ?? []);
  }
  if (tries > mostTries) return { text: `gave up ${plan.text}` };
  if (due.length === 0) return { text: `done ${plan.text}` };
  return { calls: due.map((call) => wireCall(plan, call, tries, random)) };
}

function wireCall(plan: TurnPlan, { n, tool }: PlannedCall, tries: number, random: () => number) {
  const id = callId(plan, n, tries);
  if (tool === 'ledger') {
    const takesMs = Math.round(random() * longestMs);
    return { id, name: 'ledger', arguments: { call: n, takesMs } };
  }
  const command = `python3 scripts/extend.py ${plan.text} ${n}`;
  return { id, name: 'skill_run', arguments: { skill: 'chaos', command } };
}

function callId(plan: TurnPlan, n: number, tries: number): string {
  return `${plan.text}_${n}_${tries}`;
}

/** The messages after the turn's own. */
function messagesOf(plan: TurnPlan, messages: readonly WireMessage[]): readonly WireMessage[] {
  const at = messages.findLastIndex(
    (message) => message.role === 'user' && textOf(message) === plan.text,
  );
  return messages.slice(at + 1);
}

function answersOf(messages: readonly WireMessage[]): Map<string, CallAnswer> {
  return new Map(
    messages.flatMap((message) =>
      message.role === 'tool'
        ? [[message.tool_call_id ?? '', answerOf(textOf(message))] as const]
        : [],
    ),
  );
}

function note(shown: Map<string, Set<string>>, answer: CallAnswer): void {
  if (answer.run === undefined) return;
  const { run, callKey } = answer.run;
  shown.set(callKey, (shown.get(callKey) ?? new Set()).add(run));
}
