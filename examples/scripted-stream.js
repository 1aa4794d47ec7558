/**
 * @typedef {{ id: string, type: string, function: { name: string, arguments: string } }} WireCall
 * @typedef {{ id: string, model: string, usage: unknown, choices: { finish_reason: string, message: { content: string | null, tool_calls?: WireCall[] } }[] }} Completion
 */

/**
 * A whole answer as a stream: its text in words, its calls in two pieces each, the usage last.
 * @param {Completion} whole
 */
export function chunksOf(whole) {
  const { message, finish_reason } = whole.choices[0] ?? { message: { content: null } };
  const { usage } = whole;
  const deltas = [
    { role: 'assistant', content: '' },
    ...(message.content?.match(/\S*\s*/g) ?? [])
      .filter((word) => word !== '')
      .map((content) => ({ content })),
    ...(message.tool_calls ?? []).flatMap(({ function: call, ...rest }, index) => {
      const half = Math.ceil(call.arguments.length / 2);
      const first = { name: call.name, arguments: call.arguments.slice(0, half) };
      return [
        { tool_calls: [{ index, ...rest, function: first }] },
        { tool_calls: [{ index, function: { arguments: call.arguments.slice(half) } }] },
      ];
    }),
  ];
  const head = { id: whole.id, object: 'chat.completion.chunk', model: whole.model };
  const events = [
    ...deltas.map((delta) => ({ ...head, choices: [{ index: 0, delta, finish_reason: null }] })),
    { ...head, choices: [{ index: 0, delta: {}, finish_reason }] },
    { ...head, choices: [], usage },
  ];
  return [...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n'];
}
