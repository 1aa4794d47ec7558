import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  makeSessionId,
  makeTurnId,
  sessionIdSchema,
  sessionTag,
  tagOfTurn,
  tenantSchema,
  turnIdSchema,
} from '../../../src/shared/contracts/index.js';

const anyTenant = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,62}$/).map((t) => tenantSchema.parse(t));
const anySession = fc
  .stringMatching(/^[A-Za-z0-9._-]{1,128}$/)
  .map((s) => sessionIdSchema.parse(s));

describe('session tags', () => {
  it('are the same each time, and stand in the turn’s id', () => {
    fc.assert(
      fc.property(anyTenant, anySession, (tenant, session) => {
        const tag = sessionTag(tenant, session);
        expect(sessionTag(tenant, session)).toBe(tag);
        expect(tag).toMatch(/^[0-9a-z]{16}$/);
        const turn = makeTurnId(tenant, session);
        expect(turnIdSchema.parse(turn)).toBe(turn);
        expect(tagOfTurn(turn)).toBe(tag);
      }),
    );
  });

  it('differ between tenants and between sessions', () => {
    const pairs = fc.uniqueArray(fc.tuple(anyTenant, anySession), {
      minLength: 2,
      maxLength: 2,
      comparator: 'IsStrictlyEqual',
      selector: ([tenant, session]) => `${tenant}/${session}`,
    });
    fc.assert(
      fc.property(pairs, (made) => {
        expect(new Set(made.map(([tenant, session]) => sessionTag(tenant, session))).size).toBe(2);
      }),
    );
  });
});

describe('ids', () => {
  it('are new each time', () => {
    const [tenant, session] = [tenantSchema.parse('t'), sessionIdSchema.parse('s')];
    const turns = Array.from({ length: 1000 }, () => makeTurnId(tenant, session));
    expect(new Set(turns).size).toBe(1000);
    const sessions = Array.from({ length: 1000 }, makeSessionId);
    expect(new Set(sessions).size).toBe(1000);
    for (const made of sessions) expect(sessionIdSchema.parse(made)).toBe(made);
  });

  it.each(['', 'a/b', 'a b', 'a:b', '{a}', 'ä', 'a\n', 'x'.repeat(129), '*'])(
    'a session id is not %j',
    (id) => expect(sessionIdSchema.safeParse(id).success).toBe(false),
  );

  it.each(['', '-a', 'A', 'a_b', 'a/b', 'a\n', 'x'.repeat(64), 'a}:x'])(
    'a tenant is not %j',
    (id) => expect(tenantSchema.safeParse(id).success).toBe(false),
  );

  it.each([
    ...['', 'turn_', `turn_${'a'.repeat(16)}`, `turn_${'a'.repeat(16)}_${'b'.repeat(19)}`],
    ...[`turn_${'A'.repeat(16)}_${'b'.repeat(20)}`, `x turn_${'a'.repeat(16)}_${'b'.repeat(20)}`],
    `turn_${'a'.repeat(16)}_${'b'.repeat(20)}\n`,
  ])('a turn id is not %j', (id) => expect(turnIdSchema.safeParse(id).success).toBe(false));
});
