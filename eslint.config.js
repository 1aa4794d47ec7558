import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';
import importX, { createNodeResolver } from 'eslint-plugin-import-x';

/** Each vendor appears behind one module; every other file speaks our own types (docs/architecture.md). */
const fences = [
  { vendor: '@aws-sdk', home: 'src/shared/blobs/s3-bucket.ts' },
  { vendor: '@modelcontextprotocol', home: 'src/worker/toolbox/mcp-client.ts' },
  { vendor: 'bullmq', home: 'src/shared/queue' },
  { vendor: 'ioredis', home: 'src/shared/redis' },
  { vendor: 'gray-matter', home: 'src/shared/skills/front-matter.ts' },
  { vendor: 'yauzl', home: 'src/shared/archive' },
  { vendor: 'tar-stream', home: 'src/shared/archive' },
  { vendor: 'dockerode', home: 'src/worker/executor/docker/docker-engine.ts' },
  { vendor: 'openai', home: 'src/worker/model/openai-model.ts' },
  { vendor: 'pino', home: 'src/shared/logging' },
  { vendor: 'commander', home: 'src/producer/cli' },
];

const fenceMessage = (/** @type {{ vendor: string, home: string }} */ fence) =>
  `${fence.vendor} is used in ${fence.home} only: import what that module exports.`;

/** One block per fence: the vendor is banned in src except in its home. ESLint's last match wins per rule, so each fence is its own syntax selector. */
const importBan = (/** @type {{ vendor: string, home: string }} */ fence) => ({
  selector: `ImportDeclaration[source.value=/^${fence.vendor}(\\u002F|$)/], ImportExpression[source.value=/^${fence.vendor}(\\u002F|$)/], TSImportType[source.value=/^${fence.vendor}(\\u002F|$)/], TSExternalModuleReference[expression.value=/^${fence.vendor}(\\u002F|$)/]`,
  message: fenceMessage(fence),
});

const alwaysBanned = [
  {
    selector: 'ExportAllDeclaration',
    message: 'No export *: public names are listed one by one, so that deleting stays cheap.',
  },
  {
    selector: 'ExportDefaultDeclaration',
    message: 'No default export: one name for one thing, everywhere.',
  },
  {
    selector: "MemberExpression[object.name='vi'][property.name='mock']",
    message: 'No module mocks: what needs one lacks a parameter.',
  },
];

const environmentBan = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'process.env is read in src/shared/config/load-config.ts only: take a config slice.',
};

const keyBan = {
  selector: 'TemplateElement[value.raw=/^skillmill:(?! )/], Literal[value=/^skillmill:(?! )/]',
  message: 'Redis keys are built in src/shared/redis/keys.ts only.',
};

/** Every restricted-syntax rule that holds for a file of src at this path. */
const bansFor = (/** @type {string} */ path) => [
  ...alwaysBanned,
  ...(path.startsWith('src/shared/config/load-config') ? [] : [environmentBan]),
  ...(path.startsWith('src/shared/redis/keys') ? [] : [keyBan]),
  ...fences.filter((fence) => !path.startsWith(fence.home)).map(importBan),
];

/** @returns {import('eslint').Linter.RuleEntry} */
const banRule = (/** @type {{ selector: string, message: string }[]} */ bans) => ['error', ...bans];

const homes = [
  ...new Set([
    ...fences.map((fence) => fence.home),
    'src/shared/config/load-config.ts',
    'src/shared/redis/keys.ts',
  ]),
];

/** @returns {import('eslint').Linter.RuleEntry} */
const direction = (/** @type {string[]} */ sides, /** @type {string} */ why) => [
  'error',
  { patterns: [{ regex: `(^|/)(${sides.join('|')})/`, message: why }] },
];

export default defineConfig(
  { ignores: ['dist/', 'coverage/', '.skillmill/', 'examples/skills/', 'test/fixtures/'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    plugins: { 'import-x': importX },
    settings: {
      'import-x/resolver-next': [
        createNodeResolver({
          extensionAlias: { '.js': ['.ts', '.js'] },
          extensions: ['.ts', '.js'],
        }),
      ],
      'import-x/parsers': { '@typescript-eslint/parser': ['.ts'] },
    },
    rules: {
      'import-x/no-cycle': ['error', { maxDepth: Infinity }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/consistent-type-assertions': ['error', { assertionStyle: 'never' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-require-imports': ['error', { allowAsImport: true }], // typed, and half as dear as importing a CommonJS package
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-invalid-void-type': 'off', // `Promise<void>` in unions of outcomes reads better than `undefined`
      '@typescript-eslint/strict-void-return': 'off',
      'max-lines': ['error', { max: 250 }],
      'max-lines-per-function': ['error', { max: 60 }],
      'max-params': ['error', { max: 4 }],
      'no-console': 'error',
      'no-restricted-syntax': banRule(bansFor('src/')),
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          paths: ['bullmq', 'dockerode', 'openai', 'ajv/dist/2020.js'].map((name) => ({
            name,
            allowTypeImports: true,
            message: 'Loaded when first needed, with createRequire: each start would pay for it.',
          })),
        },
      ],
    },
  },
  ...homes.map((home) => ({
    files: [home.endsWith('.ts') ? home : `${home}/**/*.ts`],
    rules: { 'no-restricted-syntax': banRule(bansFor(home)) },
  })),
  {
    files: ['src/worker/executor/docker/tar-transfer.ts'],
    rules: {
      'no-restricted-syntax': banRule(
        bansFor('src/').filter((ban) => !ban.message.startsWith('tar-stream')),
      ),
    },
  },
  {
    files: ['src/shared/**/*.ts'],
    rules: {
      'no-restricted-imports': direction(
        ['producer', 'worker'],
        'src/shared knows neither side (STYLE: shared <- producer, shared <- worker).',
      ),
    },
  },
  {
    files: ['src/producer/**/*.ts'],
    rules: {
      'no-restricted-imports': direction(['worker'], 'src/producer never imports src/worker.'),
    },
  },
  {
    files: ['src/worker/**/*.ts'],
    rules: {
      'no-restricted-imports': direction(['producer'], 'src/worker never imports src/producer.'),
    },
  },
  {
    files: [
      'test/**/*.{ts,js}',
      'bench/**/*.js',
      'examples/**/*.js',
      'scripts/**/*.mjs',
      '*.config.*',
    ],
    rules: {
      'max-lines-per-function': 'off', // a describe block is one function
      'no-restricted-syntax': banRule(alwaysBanned.slice(2)),
      '@typescript-eslint/consistent-type-assertions': 'off', // tests read JSON that they made
      'no-console': 'off',
    },
  },
  {
    files: ['bench/**/*.js', 'examples/**/*.js'],
    // A JSDoc cast of JSON.parse is a cast for the compiler, but not for this rule.
    rules: { '@typescript-eslint/no-unsafe-assignment': 'off' },
  },
);
