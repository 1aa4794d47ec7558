import { describe, expect, it } from 'vitest';
import { turnIdSchema, type TurnEventBody } from '../../../src/shared/contracts/index.js';
import type { JournalEntry, PinnedSkill } from '../../../src/shared/contracts/journal.js';
import { JournalLog } from '../../../src/worker/session/journal-log.js';

const turnId = turnIdSchema.parse('turn_2jp7qp5h065jhu7c_00000000000000000001');
const event = (name: string): TurnEventBody => ({ type: 'skill.loaded', name, digest: 'd' });
const version = {
  ...{ version: 3, manifest: 'a'.repeat(64), blobs: [], files: 1, sizeBytes: 1, savedAt: 1 },
};
const reply = (messageId: string): JournalEntry => ({
  kind: 'reply',
  messageId,
  model: 'one',
  reply: { text: '', toolCalls: [], finish: 'stop' },
  ms: 1,
  cost: { costUsd: 0, priced: 0, unpriced: 0 },
});
const finished = (
  callId: string,
  needsCheckpoint: boolean,
  skills: Promise<readonly PinnedSkill[]> = Promise.resolve([]),
) => {
  const message = { turnId, role: 'tool', toolCallId: callId, name: 't', content: '' } as const;
  const record = {
    ...{ id: callId, name: 't', arguments: {}, result: 1, error: null, durationMs: 1, attempt: 1 },
  };
  const entry = { kind: 'result', callId, message, record } as const;
  return { entry, events: [event(callId)], skills, needsCheckpoint };
};

/** A log, and what it wrote: a line a step, events before `|`, entries after it. */
function openLog(checkpointed: () => Promise<void> = () => Promise.resolve()) {
  const steps: string[] = [];
  const written: string[] = [];
  const told = (bodies: readonly TurnEventBody[]) =>
    bodies.map((body) => ('name' in body ? body.name : '')).join(' ');
  const nameOf = (entry: JournalEntry) => {
    if (entry.kind === 'reply') return entry.messageId;
    return 'callId' in entry ? `${entry.kind}-${entry.callId}` : entry.kind;
  };
  const log = new JournalLog({
    checkpointed,
    blobs: {
      put: (source) => {
        written.push(...[...(source as Iterable<Uint8Array>)].map(String));
        return Promise.resolve({ sha256: 'b'.repeat(64), sizeBytes: 1 });
      },
    },
    sink: {
      emit: (...bodies) => void steps.push(`${told(bodies)} |`),
      append(bodies, entries) {
        steps.push(`${told(bodies)} | ${entries.map(({ entry }) => nameOf(entry)).join(' ')}`);
        written.push(...entries.map(({ text }) => text));
        return Promise.resolve();
      },
    },
  });
  return { log, steps, written };
}

describe('a journal’s order of writing', () => {
  it('is that of the loop as long as no call ran a command', async () => {
    const { log, steps } = openLog();
    await log.write([reply('m1')], [event('said')]);
    await log.note({ kind: 'start', callId: 'c1' }, [event('begun')]);
    log.finish(finished('c1', false));
    await log.write([reply('m2')], []);
    expect(steps).toEqual(['said | m1', 'begun | start-c1', 'c1 | result-c1', ' | m2']);
  });

  it('holds a command’s result, and the reply behind it, until a checkpoint has its files', async () => {
    let release = () => {};
    const checkpoint = new Promise<void>((resolve) => (release = resolve));
    const { log, steps, written } = openLog(() => checkpoint);
    log.finish(finished('c1', true));
    log.finish(finished('c2', false));
    const replied = log.write([reply('m2')], [event('said')]);
    await log.note({ kind: 'start', callId: 'x' });
    expect(steps).toEqual(['c1 |', 'c2 | result-c2', ' | start-x']);
    log.saved(version);
    release();
    await replied;
    expect(steps.slice(3)).toEqual([' | result-c1', 'said | m2']);
    const [checkpointed] = written.filter((text) => text.includes('"callId":"c1"'));
    expect(JSON.parse(checkpointed ?? '')).toMatchObject({ workspace: version });
  });

  it('keeps all in order while no checkpoint can be made, and tells of it at once', async () => {
    const { log, steps } = openLog();
    log.finish(finished('c1', true));
    await log.write([reply('m2')], [event('said')]);
    await log.note({ kind: 'start', callId: 'c2' }, [event('begun')]);
    log.finish(finished('c2', false));
    await log.write([reply('m3')], []);
    await log.settle();
    expect(steps).toEqual(['c1 |', 'said |', 'begun |', 'c2 |', ' |']);
    log.saved(version);
    await log.settle();
    expect(steps.slice(5)).toEqual([' | result-c1 m2 start-c2 result-c2 m3']);
    await log.write([reply('m4')], []);
    expect(steps.at(-1)).toBe(' | m4');
  });

  it('has a skill’s pack before the entry that names it, and its reply behind', async () => {
    const { log, steps, written } = openLog();
    let store: (pinned: readonly PinnedSkill[]) => void = () => undefined;
    const skills = new Promise<readonly PinnedSkill[]>((resolve) => (store = resolve));
    log.finish(finished('c1', false, skills));
    const replied = log.write([reply('m2')], []);
    await Promise.resolve();
    expect(steps).toEqual([]);
    store([{ name: 's', digest: 'd', used: true }]);
    await replied;
    expect(steps).toEqual(['c1 | result-c1', ' | m2']);
    expect(JSON.parse(written[0] ?? '')).toMatchObject({ skills: [{ name: 's' }] });
  });

  it('puts a large entry into the blob store', async () => {
    const { log, written } = openLog();
    const large = reply('m'.repeat(256 * 1024));
    await log.write([large], []);
    expect(written.map((text) => JSON.parse(text) as unknown)).toEqual([
      large,
      { kind: 'blob', sha256: 'b'.repeat(64) },
    ]);
  });
});
