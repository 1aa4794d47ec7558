import { SkillmillError } from '../errors/skillmill-error.js';
import { mebibyte, sandboxRoomBytes, type Config } from './config.js';

/** What a worker needs beyond valid variables. @throws SkillmillError CONFIG_INVALID, all faults at once */
export function checkWorkerConfig(config: Config): void {
  const faults: string[] = [];
  if (config.model.models.length === 0) {
    faults.push('OPENAI_MODEL is not set; name the model that turns are to use');
  }
  if (
    config.model.apiKey === undefined &&
    new URL(config.model.baseUrl).host === 'api.openai.com'
  ) {
    faults.push(
      'OPENAI_API_KEY is not set; set it, or point OPENAI_BASE_URL at an endpoint that needs none',
    );
  }
  const { kind, memoryBytes, diskBytes } = config.executor;
  if (kind === 'docker' && memoryBytes - diskBytes < sandboxRoomBytes) {
    faults.push(
      `SKILLMILL_SANDBOX_MEMORY_MB must be at least ${sandboxRoomBytes / mebibyte} more than SKILLMILL_SANDBOX_DISK_MB, since a sandbox's files live in its memory`,
    );
  }
  if (faults.length > 0) {
    throw new SkillmillError('CONFIG_INVALID', `Wrong settings: ${faults.join('; ')}.`, {
      details: { faults },
    });
  }
}
