import { expect, it } from 'vitest';
import { LineCutter, LineLog, type Line } from '../../../src/worker/toolbox/line-cutter.js';
import { readTools } from '../../../src/worker/toolbox/mcp-tools.js';

const tool = (name: string, more: object = {}) => ({
  name,
  description: `Does ${name}`,
  inputSchema: { type: 'object', properties: { a: { type: 'string' } } },
  ...more,
});
const read = (...tools: unknown[]) =>
  readTools({ name: 'srv', tools: undefined }, { tools, isWhole: true });
const namesOf = ({ tools }: ReturnType<typeof readTools>) =>
  tools.map(({ definition }) => definition.name);

it('gives the input schema as it is', () => {
  const inputSchema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { a: { anyOf: [{ type: 'string' }, { $ref: '#/$defs/b' }] } },
    $defs: { b: { const: 1 } },
    additionalProperties: false,
  };
  const { tools, warnings } = read(
    tool('a', { inputSchema }),
    tool('b', { description: null, title: 'B' }),
  );
  expect(tools[0]?.definition).toEqual({
    name: 'srv__a',
    description: 'Does a',
    parameters: inputSchema,
  });
  expect(tools[1]?.definition.description).toBe('B');
  expect(warnings).toEqual([]);
});

it('leaves out with a warning what cannot be offered, and nothing else', () => {
  let deep: object = {};
  for (let level = 0; level < 5000; level += 1) deep = { not: deep };
  const result = read(
    tool('good'),
    tool('good', { description: 'again' }),
    ...[tool('a.b'), tool('ä'), tool(''), tool('n'.repeat(60))],
    ...[tool('s1', { inputSchema: null }), tool('s2', { inputSchema: { type: 'string' } })],
    tool('big', { description: 'x'.repeat(70_000) }),
    tool('deep', { inputSchema: { type: 'object', not: deep } }),
    ...[null, 'text', {}, { name: 7 }],
    tool('n'.repeat(59)),
  );
  expect(namesOf(result)).toEqual(['srv__good', `srv__${'n'.repeat(59)}`]);
  expect(result.tools[0]?.definition.description).toBe('Does good');
  expect(result.warnings).toEqual([
    expect.stringMatching(/^left out, since server__tool must be .*: a\.b, ä, n{60}$/),
    expect.stringMatching(/^left out, since their input schema .*: s1, s2, big, deep$/),
    expect.stringMatching(/^there more than once; the first is used: good$/),
  ]);
});

it('tells of a server with nothing, or too much', () => {
  expect(read().warnings).toEqual(['it offers no tools']);
  const many = { tools: [tool('a')], isWhole: false };
  expect(readTools({ name: 's', tools: undefined }, many).warnings).toEqual([
    'it has more tools than can be used; the last are left out',
  ]);
  const bad = Array.from({ length: 30 }, (_, index) => tool(`.${index}`));
  expect(read(...bad).warnings[0]).toMatch(/\.19 and 10 more$/);
});

const cut = (limit: number, ...chunks: string[]) => {
  const cutter = new LineCutter(limit);
  return chunks.flatMap((chunk) => [...cutter.push(Buffer.from(chunk))]);
};
const whole = (text: string): Line => ({ text, isCut: false });

it('cuts bytes into lines, and a line that is too long once', () => {
  expect(cut(10, 'a\nb', 'c\r\n\n', 'd')).toEqual([whole('a'), whole('bc'), whole('')]);
  expect(cut(4, '12', '345', '678\n9\n')).toEqual([{ text: '1234', isCut: true }, whole('9')]);
  expect(cut(4, '12345\n', '1234\n')).toEqual([{ text: '1234', isCut: true }, whole('1234')]);
  const [first, second] = [Buffer.from('ä').subarray(0, 1), Buffer.from('ä\n').subarray(1)];
  const cutter = new LineCutter(10);
  expect([...cutter.push(first), ...cutter.push(second)]).toEqual([whole('ä')]);
});

it('tells so many lines in a time, and how many were left out', () => {
  const told: string[] = [];
  const log = new LineLog((line) => told.push(line), 2, 60_000);
  for (const text of ['a', 'b', 'c', 'd']) log.add(whole(text));
  expect(told).toEqual(['a', 'b']);
  log.end();
  expect(told).toEqual(['a', 'b', '[2 lines left out]']);
});
