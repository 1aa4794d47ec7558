import type { AllowedHosts } from '../download/allowed-hosts.js';
import type { Environment } from './env-schema.js';

/** What holds for the files of a turn that are not in its request. */
export interface InputConfig {
  /** Hosts of URLs that may be asked though they are not public. */
  readonly allowHosts: AllowedHosts;
  /** Of one URL. */
  readonly maxFileBytes: number;
}

/** The settings of a turn's files, of the checked environment. */
export function inputSlice(env: Environment): InputConfig {
  return {
    allowHosts: env.SKILLMILL_INPUT_ALLOW_HOSTS ?? [],
    maxFileBytes: env.SKILLMILL_INPUT_MAX_MB * 1024 * 1024,
  };
}
