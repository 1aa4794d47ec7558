// Prints how vitest's JSON report ended, as `N passed, N failed[, N skipped]`, and exits 1 unless
// tests ran and none failed. A report that is missing counts as no tests.
import { readFileSync } from 'node:fs';

/** @typedef {{ status: string, assertionResults: { status: string }[] }} TestFile */

/** @type {(text: string) => { testResults: TestFile[] }} */
const parseReport = JSON.parse;

/**
 * @param {string} path
 * @returns {TestFile[]}
 */
function readFiles(path) {
  try {
    return parseReport(readFileSync(path, 'utf8')).testResults;
  } catch {
    return [];
  }
}

/**
 * The status of every test; a file that failed before its first test counts as one failed test.
 * @param {TestFile} file
 * @returns {string[]}
 */
function statuses(file) {
  const found = file.assertionResults.map((test) => test.status);
  return file.status === 'failed' && !found.includes('failed') ? [...found, 'failed'] : found;
}

const all = readFiles(process.argv[2] ?? '').flatMap(statuses);
const passed = all.filter((status) => status === 'passed').length;
const failed = all.filter((status) => status === 'failed').length;
const skipped = all.length - passed - failed;

console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = passed > 0 && failed === 0 ? 0 : 1;
