import { SkillmillError } from '../../shared/errors/skillmill-error.js';
import type { OperatorConfig } from '../../shared/config/operator-config.js';
import type { SkillSource } from './open-skills.js';

/** Says once what the skill roots hold, what is wrong in them and what cannot be used. @throws SkillmillError CONFIG_INVALID for a root that cannot be read */
export async function reportSkills({
  repository,
  gate,
  logger,
  operator,
}: Pick<SkillSource, 'repository' | 'gate' | 'logger'> & {
  readonly operator: Pick<OperatorConfig, 'skillEntries'>;
}): Promise<void> {
  const { skills, diagnostics } = await repository.snapshot();
  const unusable = diagnostics.filter(({ rule }) => rule.startsWith('root-'));
  if (unusable.length > 0) {
    const faults = unusable.map(({ file, message }) => `${file}: ${message}`);
    throw new SkillmillError('CONFIG_INVALID', `SKILLS_ROOT: ${faults.join(' ')}`, {
      details: { faults },
    });
  }
  logger.log('info', `skills found: ${skills.length}`, {
    skills: skills.map((skill) => skill.name).slice(0, 50),
  });
  for (const { severity, ...found } of diagnostics) {
    logger.log(severity === 'error' ? 'error' : 'warn', 'a fault in a skill root', found);
  }
  await gate.refusals(skills); // the gate logs them
  const keys = new Set(skills.flatMap(({ name, requirements }) => [name, requirements?.key]));
  for (const key of operator.skillEntries.keys()) {
    if (!keys.has(key))
      logger.log('warn', 'the config file names a skill that is not there', { skill: key });
  }
}
