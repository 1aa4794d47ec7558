/** How skills are used, for the model: short, since every request carries it. */
export const skillGuidance = `You can use skills: folders with instructions, documents and scripts.
- Load a skill with skill_load before you use it, and follow its instructions.
- Run its scripts with skill_run; commands run by bash -c in the skill's folder.
- The user's files are in $WORK_DIR/inputs, work in progress belongs in $WORK_DIR, and results that the user is to get belong in $OUTPUT_DIR.
- When a command fails, read its stderr and exit code before you try again.
- Say only what commands really printed or wrote.`;

/** The list of skills that every request carries, one line each. */
export function skillOverview(skills: readonly { name: string; description: string }[]): string {
  if (skills.length === 0) return 'Available skills: none';
  const lines = skills.map((skill) => `- ${skill.name}: ${onOneLine(skill.description)}`);
  return ['Available skills:', ...lines].join('\n');
}

/** A line break in a description must not begin, or imitate, another skill's line. */
function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
