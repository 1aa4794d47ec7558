import { textOf } from './scripted-model.js';

/** What the scripted model does with "summarise this file": load the skill, run its script, report what it wrote. */

/** The request that the demo makes, also of a real model. */
export const demoMessage =
  'Summarise the text file user-notes.txt with the user-file-ops skill. Write the summary to user-notes-summary.txt in the output folder, and tell me the counts.';

/** @type {import('./scripted-model.js').Script} */
export const demoScript = (userText) =>
  userText.startsWith('Summarise the text file')
    ? [
        { calls: [{ name: 'skill_load', arguments: { skill_name: 'user-file-ops' } }] },
        {
          calls: [
            {
              name: 'skill_run',
              arguments: {
                skill: 'user-file-ops',
                command:
                  'bash scripts/summarize_file.sh "$WORK_DIR/inputs/user-notes.txt" "$OUTPUT_DIR/user-notes-summary.txt"',
              },
            },
          ],
        },
        (request) => ({ text: reportOf(request.messages.at(-1)) }),
      ]
    : undefined;

/** @typedef {{ exit_code: number, stderr: string, output_files: { name: string, content: string }[] }} RunResult */

/** @param {import('./scripted-model.js').WireMessage | undefined} toolMessage */
function reportOf(toolMessage) {
  /** @type {RunResult} */
  const result = JSON.parse(textOf(toolMessage));
  const [file] = result.output_files;
  if (result.exit_code !== 0 || file === undefined) {
    return `The script failed (exit ${result.exit_code}): ${result.stderr}`;
  }
  return `I summarised the file; the summary is in ${file.name}:\n\n${file.content}`;
}
