import type { AgentPorts, Transcript } from './agent-ports.js';
import { answerCalls } from './answer-calls.js';
import { askModel, outputLimit } from './ask-model.js';
import { nextStep } from './next-step.js';
import type { FinalAnswer } from './output-check.js';

/** What a model is asked when its answer was cut at its output limit. */
const goOn = 'Your answer was cut off. Go on exactly where it stopped; repeat nothing.';

/** The loop: one step after another until the final answer; called again with a longer transcript it goes on. @throws SkillmillError LIMIT_EXCEEDED, LOOP_DETECTED, OUTPUT_INVALID, MODEL_*; the signals' reasons */
export async function runAgent(transcript: Transcript, ports: AgentPorts): Promise<FinalAnswer> {
  const { messages } = transcript;
  for (;;) {
    ports.signal.throwIfAborted();
    const step = nextStep(messages);
    switch (step.kind) {
      case 'call_model':
        ports.stepAside.throwIfAborted();
        await join(transcript, ports);
        await askModel(transcript, ports);
        break;
      case 'call_tools':
        await answerCalls(step.calls, transcript, ports);
        break;
      case 'go_on':
        if (transcript.asked.has('go_on')) throw outputLimit();
        transcript.asked.add('go_on');
        messages.push({ turnId: ports.turnId, role: 'user', content: goOn });
        break;
      case 'final': {
        const checked = ports.checkOutput(step.text);
        if (checked.kind === 'answer') {
          // What came meanwhile is answered in the same turn.
          if (await join(transcript, ports)) break;
          return checked.answer;
        }
        if (transcript.asked.has('form')) throw checked.error;
        transcript.asked.add('form');
        messages.push({ turnId: ports.turnId, role: 'user', content: checked.complaint });
        break;
      }
    }
  }
}

/** Takes messages that have joined the turn into it; true when there were any. */
async function join({ messages }: Transcript, ports: AgentPorts): Promise<boolean> {
  const joined = await ports.takeMessages();
  messages.push(...joined);
  return joined.length > 0;
}
