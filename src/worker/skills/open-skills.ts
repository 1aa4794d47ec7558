import type { OperatorConfig, TurnFacts } from '../../shared/config/operator-config.js';
import { errorMessage } from '../../shared/errors/skillmill-error.js';
import type { Logger } from '../../shared/logging/logger.js';
import { lockFaults, type SkillLock } from '../../shared/skills/skill-lock.js';
import type { SkillRepository } from '../../shared/skills/skill-repository.js';
import type { SkillSnapshot } from '../../shared/skills/skill-snapshot.js';
import type { Skill } from '../../shared/skills/skill.js';
import type { SkillGate } from './skill-gate.js';
import { openTurnSkills, type Refusal, type TurnSkills } from './turn-skills.js';

/** Where a worker's skills come from, and what is decided of them. */
export interface SkillSource {
  readonly repository: Pick<SkillRepository, 'snapshot'>;
  readonly operator: Pick<OperatorConfig, 'isVisible'>;
  readonly gate: SkillGate;
  /** What skills have to be when the roots are frozen. */
  readonly lock: SkillLock | undefined;
  readonly logger: Logger;
}

/** The turn that asks for its skills. */
export interface AskingTurn extends Omit<TurnFacts, 'metadata'> {
  readonly request: {
    readonly allowedSkills?: readonly string[] | undefined;
    readonly metadata?: Readonly<Record<string, string>> | undefined;
  };
}

/** The skills as they are now, as far as this turn may know of them. */
export async function openSkills(turn: AskingTurn, source: SkillSource): Promise<TurnSkills> {
  const snapshot = visibleTo(turn, await source.repository.snapshot(), source);
  const refusals = await refusalsOf(snapshot.skills, source);
  return openTurnSkills(snapshot, { refusals, envOf: (skill) => source.gate.envOf(skill) });
}

/** The skills that this turn may know of: those that it asks for, and of them those that the operator's filter lets through. */
function visibleTo(
  turn: AskingTurn,
  snapshot: SkillSnapshot,
  { operator, logger }: SkillSource,
): SkillSnapshot {
  const { allowedSkills, metadata = {} } = turn.request;
  const allowed = allowedSkills === undefined ? snapshot : snapshot.allowed(allowedSkills);
  const { isVisible } = operator;
  if (isVisible === undefined) return allowed;
  const { tenant, sessionId, turnId } = turn;
  const facts = { tenant, sessionId, turnId, metadata };
  try {
    const names = allowed.skills.filter((skill) => {
      const answer: unknown = isVisible(skill, facts);
      if (answer instanceof Promise) answer.catch(() => undefined);
      if (typeof answer !== 'boolean') throw new TypeError('it answers neither true nor false');
      return answer;
    });
    return allowed.allowed(names.map(({ name }) => name));
  } catch (error) {
    // Nobody knows what it would have hidden.
    logger.log('error', 'the visibility filter failed: the turn sees no skill', {
      turnId,
      reason: errorMessage(error),
    });
    return allowed.allowed([]);
  }
}

async function refusalsOf(
  skills: readonly Skill[],
  { lock, gate }: SkillSource,
): Promise<ReadonlyMap<string, Refusal>> {
  const refusals = new Map<string, Refusal>();
  for (const [name, message] of await gate.refusals(skills)) {
    refusals.set(name, { code: 'SKILL_UNAVAILABLE', message });
  }
  if (lock === undefined) return refusals;
  for (const skill of skills) {
    const message = lockFaults(lock, skill);
    if (message !== undefined) refusals.set(skill.name, { code: 'SKILL_INVALID', message });
  }
  return refusals;
}
