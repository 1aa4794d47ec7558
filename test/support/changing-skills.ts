import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const skill = (name: string, word: string) =>
  `---\nname: ${name}\ndescription: Is ${word}.\n---\n\nThis skill is ${word}.\n`;

/** Two skills whose every file says the same word. */
export async function putChangingSkills(root: string, word: string): Promise<void> {
  for (const name of ['changing', 'vanishing']) {
    await mkdir(join(root, name), { recursive: true });
    await writeFile(join(root, name, 'SKILL.md'), skill(name, word));
    await writeFile(join(root, name, 'notes.md'), `Notes: ${word}.\n`);
    await writeFile(join(root, name, 'say.sh'), `echo ${word}\n`);
  }
}
