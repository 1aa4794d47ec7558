import { onOneLine } from '../../shared/skills/source-text.js';
import type { Tool } from '../tools/tool.js';
import { isSurelyWithin, tokensOf } from './token-budget.js';

/** How skills are used, for the model: a line for each tool that is registered, and no other. */
export function skillGuidance(tools: readonly Pick<Tool, 'guidance'>[]): string {
  const lines = tools.flatMap(({ guidance }) => (guidance === undefined ? [] : [`- ${guidance}`]));
  return [
    'You can use skills: folders with instructions, documents and scripts.',
    ...new Set(lines),
  ].join('\n');
}

/**
 * The list of skills that every request carries, `- name: description` a line. Past the budget the rest stand as
 * names alone, and past that as a number.
 */
export async function skillOverview(
  skills: readonly { readonly name: string; readonly description: string }[],
  budgetTokens: number,
): Promise<string> {
  if (skills.length === 0) return 'Available skills: none';
  const full = skills.map(({ name, description }) => `- ${name}: ${onOneLine(description)}`);
  const whole = ['Available skills:', ...full].join('\n');
  if (isSurelyWithin(whole, budgetTokens) || (await tokensOf(whole)) <= budgetTokens) return whole;
  return shortened(skills, full, budgetTokens);
}

async function shortened(
  skills: readonly { readonly name: string }[],
  full: readonly string[],
  budgetTokens: number,
): Promise<string> {
  const lines = ['Available skills:'];
  let spent = await tokensOf('Available skills:');
  let at = 0;
  for (const text of [full, skills.map(({ name }) => `- ${name}`)]) {
    // Descriptions take at most three quarters, so that names of the rest have room.
    const limit = text === full ? budgetTokens * 0.75 : budgetTokens;
    for (let line = text[at]; line !== undefined; line = text[at]) {
      const cost = (await tokensOf(line)) + 1;
      if (spent + cost > limit) break;
      lines.push(line);
      spent += cost;
      at += 1;
    }
  }
  const left = skills.length - at;
  if (left > 0) lines.push(`- … and ${left} more; skill_list names them all`);
  return lines.join('\n');
}
