import type { TurnId } from '../../src/shared/contracts/index.js';
import type { Proof } from './session-line.js';

export interface ModelTurn {
  readonly id: TurnId;
  readonly ticket: number;
  readonly priority: number;
  fruitless: number;
  throttled: number;
  attempts: number;
  result: string | undefined;
}

interface GivenProof extends Proof {
  readonly turn: ModelTurn;
}

/** What a session is thought to be, without Redis: its turns, its line, the lease in force. */
export class LineModel {
  readonly turns: ModelTurn[] = [];
  readonly proofs: GivenProof[] = [];
  line: ModelTurn[] = [];
  delayed: ModelTurn[] = [];
  steered: ModelTurn[] = [];
  begun: ModelTurn | undefined;
  cancelling: ModelTurn | undefined;
  lease: (GivenProof & { expired: boolean }) | undefined;
  token = 0;
  /** Every result that a script said it had taken, by turn. */
  readonly accepted: string[] = [];

  get head() {
    const [first] = this.line;
    return first === undefined ? undefined : { turnId: first.id, priority: first.priority };
  }

  holds(proof: Proof): boolean {
    return this.lease?.token === proof.token && this.lease.nonce === proof.nonce;
  }

  placeOf(turn: ModelTurn): number {
    return this.line.indexOf(turn) + 1;
  }

  /** The turn is over; gives the new head. */
  finish(turn: ModelTurn, result: string) {
    turn.result = result;
    this.accepted.push(turn.id);
    const others = (list: ModelTurn[]) => list.filter((other) => other !== turn);
    [this.line, this.delayed, this.steered] = [this.line, this.delayed, this.steered].map(
      others,
    ) as [ModelTurn[], ModelTurn[], ModelTurn[]];
    if (this.begun === turn) {
      this.line = [...this.line, ...this.steered].sort((a, b) => a.ticket - b.ticket);
      this.steered = [];
      this.begun = undefined;
    }
    if (this.cancelling === turn) this.cancelling = undefined;
    return this.head;
  }
}
