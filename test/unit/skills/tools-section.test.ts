import { expect, it } from 'vitest';
import { readToolsSection } from '../../../src/shared/skills/tools-section.js';

const cases: [string, string, string[]][] = [
  ['items', 'Tools:\n- a\n- b', ['a', 'b']],
  ['any case and spaces', '  tOOls:  \n  - a\n', ['a']],
  ['blank lines before the first item', 'Tools:\n\n\n- a\n- b\n', ['a', 'b']],
  ['a blank line ends it', 'Tools:\n- a\n\n- b\n', ['a']],
  ['comments', 'Tools:\n# one\n- a\n# two\n- b\n', ['a', 'b']],
  ['a heading ends it', 'Tools:\n- a\n## Examples\n- b\n', ['a']],
  ['a heading before any item', 'Tools:\n## Examples\n- b\n', []],
  ['prose ends it', 'Tools:\n- a\nThen do:\n- b\n', ['a']],
  ['bullets under later headings', 'Tools:\n- a\n\n## Examples\n\n- b\n- c\n', ['a']],
  [
    'backticks and text after',
    'Tools:\n- `a`: does a\n- b - does b\n- c, or\n- `d` (old)\n- e.\n',
    ['a', 'b', 'c', 'd', 'e'],
  ],
  [
    'names with dots, dashes, slashes',
    'Tools:\n- mcp.get-x\n- server/tool\n- ns:tool\n',
    ['mcp.get-x', 'server/tool', 'ns:tool'],
  ],
  ['doubles', 'Tools:\n- a\n- a\n', ['a']],
  ['prose that begins with the word', 'Tools: we use a\n- b\n', []],
  ['a later list when the first is empty', 'Tools:\nnone here\n\nTools:\n- a\n', ['a']],
  ['other bullets', 'Tools:\n* a\n', []],
  ['no name', 'Tools:\n- (none)\n- a\n', []],
  ['an example in a code fence', '```\nTools:\n- a\n```\n\nTools:\n- b\n', ['b']],
  ['nothing', 'Text\n', []],
];

it.each(cases)('%s', (_, body, tools) => {
  expect(readToolsSection(body)).toEqual(tools);
});
