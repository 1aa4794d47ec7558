import fc from 'fast-check';
import { catalogue, toolboxNames } from './three-skills.js';

export interface SelectArguments {
  readonly skill_name: string;
  readonly docs?: readonly string[];
  readonly include_all_docs?: boolean;
  readonly tools?: readonly string[];
  readonly include_all_tools?: boolean;
  readonly mode?: 'add' | 'replace' | 'clear';
}

/** A call of a tool that changes what is loaded or selected. */
export interface SkillCall {
  readonly tool: 'skill_load' | 'skill_select_docs' | 'skill_select_tools';
  readonly args: SelectArguments;
}

const skillName = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...Object.keys(catalogue)) },
  { weight: 1, arbitrary: fc.constant('nowhere') },
);
const mode = fc.constantFrom('add' as const, 'replace' as const, 'clear' as const);

/** Mostly names that there are, and now and then one that there is not. */
function names(there: readonly string[]): fc.Arbitrary<string> {
  const stray = fc.constant('stray');
  if (there.length === 0) return stray;
  return fc.oneof(
    { weight: 15, arbitrary: fc.constantFrom(...there) },
    { weight: 1, arbitrary: stray },
  );
}

/** Calls of the three tools on the three skills, and on one that there is not. */
export const skillCall: fc.Arbitrary<SkillCall> = skillName.chain((skill) => {
  const { docs = [], tools = [] } = catalogue[skill] ?? {};
  const of = { skill_name: fc.constant(skill) };
  const doc = names(docs);
  const requiredKeys: ['skill_name'] = ['skill_name'];
  const loads = fc.record(
    { ...of, docs: fc.uniqueArray(doc, { maxLength: 3 }), include_all_docs: fc.boolean() },
    { requiredKeys },
  );
  const docChoices = fc.record(
    { ...of, docs: fc.array(doc, { maxLength: 3 }), include_all_docs: rarely, mode },
    { requiredKeys },
  );
  const tool = names([...tools, ...toolboxNames]);
  const toolChoices = fc.record(
    { ...of, tools: fc.array(tool, { maxLength: 3 }), include_all_tools: rarely, mode },
    { requiredKeys },
  );
  return fc.oneof(
    loads.map((args): SkillCall => ({ tool: 'skill_load', args })),
    docChoices.map((args): SkillCall => ({ tool: 'skill_select_docs', args })),
    toolChoices.map((args): SkillCall => ({ tool: 'skill_select_tools', args })),
  );
});

const rarely = fc.constantFrom(true, false, false, false);
