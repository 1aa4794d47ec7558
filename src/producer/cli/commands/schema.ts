import type { Command } from 'commander';
import {
  contractJsonSchema,
  contractNames,
  isContractName,
} from '../../../shared/contracts/index.js';
import { SkillmillError } from '../../../shared/errors/skillmill-error.js';
import type { CommandContext } from '../command-context.js';

/** `skillmill schema`: a contract as JSON Schema, for producers in other languages. */
export function addSchemaCommand(program: Command, context: CommandContext): void {
  program
    .command('schema')
    .description('print a contract as JSON Schema')
    .argument('<name>', contractNames.join(', '))
    .action((name: string) => {
      if (!isContractName(name)) {
        throw new SkillmillError(
          'INPUT_INVALID',
          `There is no contract ${JSON.stringify(name)}; there are ${contractNames.join(', ')}.`,
        );
      }
      context.stdout(`${JSON.stringify(contractJsonSchema(name), null, 2)}\n`);
    });
}
