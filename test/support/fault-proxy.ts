import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A TCP proxy that can do to connections what networks do. */
export interface FaultProxy {
  readonly url: string;
  /** Connections that are open on the side of the callers. */
  readonly connections: number;
  /** Connections that have been opened since it was started. */
  readonly opened: number;
  /** Ends all connections, with a reset or with an orderly end; new ones are welcome. */
  cut(how?: 'reset' | 'end'): void;
  /** Connections that are there, and those to come, are reset at once. */
  refuse(): void;
  /** Each piece is handed on this much later, either way. */
  delay(ms: number): void;
  /** Half open: connections that are there swallow what either side says, and its end, until they are closed. */
  freeze(): void;
  /** The same for those to come: they are accepted and never answer. */
  freezeNew(): void;
  /** New connections are as they should be; frozen ones stay frozen. */
  thaw(): void;
  close(): Promise<void>;
}

type Mode = 'pass' | 'freeze' | 'refuse';

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  isFrozen: boolean;
}

/** Starts a proxy between anybody and the server of `url`. */
export async function startFaultProxy(url: string): Promise<FaultProxy> {
  const target = new URL(url);
  const pairs = new Set<Pair>();
  const farEnds = new Set<Socket>();
  let mode: Mode = 'pass';
  let delayMs = 0;
  let opened = 0;

  const server = createServer({ allowHalfOpen: true }, (near) => {
    opened += 1;
    near.on('error', () => undefined);
    if (mode === 'refuse') {
      near.resetAndDestroy();
      return;
    }
    const far = connect({
      port: Number(target.port),
      host: target.hostname,
      allowHalfOpen: true,
    }).on('error', () => near.resetAndDestroy());
    const pair: Pair = { near, far, isFrozen: mode === 'freeze' };
    pairs.add(pair);
    const pass = (from: Socket, to: Socket) => {
      let last = Promise.resolve();
      const later = (work: () => void) => {
        const ms = delayMs;
        last = last.then(() => (ms > 0 ? sleep(ms) : undefined)).then(work);
      };
      from.on('data', (piece: Buffer) => {
        if (!pair.isFrozen) later(() => pair.isFrozen || to.destroyed || to.write(piece));
      });
      from.on('end', () => {
        if (!pair.isFrozen) later(() => pair.isFrozen || to.end());
      });
    };
    pass(near, far);
    pass(far, near);
    near.on('close', () => {
      pairs.delete(pair);
      // The server learns nothing of the end of a connection that is frozen.
      if (!pair.isFrozen) far.destroy();
    });
    far.on('close', () => {
      if (!pair.isFrozen) near.destroy();
    });
    farEnds.add(far);
    far.on('close', () => farEnds.delete(far));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');

  const resetAll = () => {
    for (const { near, far } of pairs) {
      near.resetAndDestroy();
      far.destroy();
    }
  };
  return {
    url: `redis://127.0.0.1:${address.port}`,
    get connections() {
      return pairs.size;
    },
    get opened() {
      return opened;
    },
    cut(how = 'reset') {
      if (how === 'reset') resetAll();
      else for (const { near, far } of pairs) [near, far].forEach((socket) => socket.destroy());
    },
    refuse() {
      mode = 'refuse';
      resetAll();
    },
    delay(ms) {
      delayMs = ms;
    },
    freeze() {
      for (const pair of pairs) pair.isFrozen = true;
    },
    freezeNew() {
      mode = 'freeze';
    },
    thaw() {
      mode = 'pass';
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      resetAll();
      for (const socket of farEnds) socket.destroy();
      await closed;
    },
  };
}
