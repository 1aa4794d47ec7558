import { expect, it } from 'vitest';
import {
  artifactNameFault,
  artifactNameOf,
} from '../../../src/worker/tools/skill-run-artifact-name.js';

it.each([
  [{}, 'out/d/a.tar.gz'],
  [{ prefix: 'p-' }, 'p-out/d/a.tar.gz'],
  [{ template: 'kept/' }, 'kept/out/d/a.tar.gz'],
  [{ template: '{stem}-1{ext}' }, 'a.tar-1.gz'],
  [{ template: '{dir}/x/{base}', prefix: 'y/' }, 'y/out/d/x/a.tar.gz'],
  [{ template: '{name}.bak' }, 'out/d/a.tar.gz.bak'],
  [{ template: '{other}' }, '{other}out/d/a.tar.gz'],
])('with %j it is %s', (naming, name) => {
  expect(artifactNameOf('out/d/a.tar.gz', naming)).toBe(name);
});

it.each([
  ['out/..x', { template: '{stem}{stem}' }],
  ['out/plain', { template: '{ext}' }],
  ['out/plain', { template: 'kept/{ext}' }],
  ['out/plain', { prefix: 'a//' }],
])('of %s with %j stays what it is', (path, naming) => {
  expect(artifactNameOf(path, naming)).toBe(path);
});

it.each(['/x', '../x', 'a/../b', './x', 'a\nb', 'a\0b', 'x'.repeat(201)])(
  'may not have %j in it',
  (part) => {
    expect(artifactNameFault(part)).toBeTypeOf('string');
  },
);

it.each(['', 'a/', 'a..b', 'user:', 'ü {stem}'])('may have %j in it', (part) => {
  expect(artifactNameFault(part)).toBeUndefined();
});
