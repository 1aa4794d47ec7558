import { describe, expect, it } from 'vitest';
import { turnIdSchema } from '../../../src/shared/contracts/index.js';
import type { JournalEntry, JournalledReply } from '../../../src/shared/contracts/journal.js';
import { JournalReplay } from '../../../src/worker/session/journal-replay.js';

const turnId = turnIdSchema.parse('turn_2jp7qp5h065jhu7c_00000000000000000001');
const other = turnIdSchema.parse('turn_2jp7qp5h065jhu7c_00000000000000000002');
const cost = { costUsd: 0, priced: 0, unpriced: 0 };

const reply = (text: string): JournalledReply => ({
  kind: 'reply',
  messageId: `m-${text}`,
  model: 'one',
  reply: { text, toolCalls: [], finish: 'stop' },
  ms: 1,
  cost,
});
const message = (content: string): JournalEntry => ({ kind: 'message', turnId: other, content });
const summary = (text: string): JournalEntry => ({ kind: 'summary', text, cost });
const start = (callId: string): JournalEntry => ({ kind: 'start', callId });
const result = (callId: string, more: object = {}): JournalEntry => ({
  kind: 'result',
  callId,
  message: { turnId: other, role: 'tool', toolCallId: callId, name: 't', content: callId },
  record: {
    ...{ id: callId, name: 't', arguments: {}, result: 1, error: null, durationMs: 1, attempt: 1 },
  },
  ...more,
});
const version = (n: number) => ({
  ...{ version: n, manifest: 'a'.repeat(64), blobs: [], files: 1, sizeBytes: 1, savedAt: n },
});

describe('a journal that is replayed', () => {
  it('that is empty holds nothing', () => {
    const replay = new JournalReplay(turnId, []);
    expect(replay.nextReply).toBeUndefined();
    expect(replay.takeReply()).toBeUndefined();
    expect(replay.takeMessages()).toEqual([]);
    expect([replay.opened, replay.checkpoint, replay.startsOf('c')]).toEqual([
      ...[undefined, undefined, 0],
    ]);
  });

  it('gives replies in order, each once', () => {
    const replay = new JournalReplay(turnId, [reply('a'), start('c'), result('c'), reply('b')]);
    expect(replay.nextReply?.reply.text).toBe('a');
    expect([replay.takeReply(), replay.takeReply(), replay.takeReply()]).toEqual([
      ...[reply('a'), reply('b'), undefined],
    ]);
  });

  it('gives messages and summaries before the reply that they stood before, and no earlier', () => {
    const replay = new JournalReplay(turnId, [
      ...[reply('a'), message('one'), summary('s'), message('two'), reply('b'), message('three')],
    ]);
    expect(replay.takeMessages()).toEqual([]);
    expect(replay.takeSummary()).toBeUndefined();
    replay.takeReply();
    const texts = () => replay.takeMessages().map((each) => [each.turnId, each.role]);
    expect(texts()).toEqual([
      ...[
        [turnId, 'user'],
        [turnId, 'user'],
      ],
    ]);
    expect(texts()).toEqual([]);
    expect(replay.takeSummary()).toMatchObject({ text: 's' });
    expect(replay.takeSummary()).toBeUndefined();
    replay.takeReply();
    expect(replay.takeMessages()).toMatchObject([{ content: 'three' }]);
  });

  it('gives results by call, as the turn’s own, wherever they stand', () => {
    const replay = new JournalReplay(turnId, [reply('a'), result('c2'), start('c1'), result('c1')]);
    expect(replay.resultOf('c1')?.message.turnId).toBe(turnId);
    expect(replay.resultOf('c2')?.record.id).toBe('c2');
    expect(replay.resultOf('c3')).toBeUndefined();
  });

  it('counts how often each call was begun', () => {
    const replay = new JournalReplay(turnId, [start('c1'), start('c2'), start('c1')]);
    expect(['c1', 'c2', 'c3'].map((id) => replay.startsOf(id))).toEqual([2, 1, 0]);
  });

  it('has the last checkpoint, and all skills in the order of their first use', () => {
    const pin = (name: string) => ({ name, digest: name, used: true });
    const replay = new JournalReplay(turnId, [
      { kind: 'opened', turnId: other, overview: 'o', skills: [pin('a')] },
      result('c1', { workspace: version(1), skills: [pin('b')] }),
      result('c2', { workspace: version(2) }),
      result('c3'),
    ]);
    expect(replay.checkpoint?.savedAt).toBe(2);
    expect(replay.skills.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(replay.opened?.overview).toBe('o');
  });
});
