import { callCases } from './call-cases.js';
import { fileCases } from './file-cases.js';
import { groups, small, type HostileCase, type Scale } from './hostile-case.js';
import { isolationCases } from './isolation-cases.js';
import { nameCases } from './name-cases.js';
import { outputCases } from './output-cases.js';
import { processCases } from './process-cases.js';
import { resourceCases } from './resource-cases.js';
import { syscallCases } from './syscall-cases.js';

/** All attacks, as large as asked for. */
export function hostileCases(scale: Scale = small): HostileCase[] {
  const byGroup = {
    resources: resourceCases(scale),
    processes: processCases(scale),
    output: outputCases(scale),
    isolation: [...isolationCases(), ...syscallCases()],
    calls: callCases(),
    files: [...fileCases(scale), ...nameCases()],
  };
  return groups.flatMap((group) => byGroup[group].map((one) => ({ ...one, group })));
}
