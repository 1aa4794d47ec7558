import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Docker's engine behind a port of its own, so that a test can take it away from one worker. */
export interface EngineProxy {
  /** What DOCKER_HOST is to hold. */
  readonly host: string;
  /** Ends every connection, and refuses those to come. */
  takeAway(): void;
  giveBack(): void;
  close(): Promise<void>;
}

/** Starts one before the engine on the usual socket. */
export async function startEngineProxy(): Promise<EngineProxy> {
  const sockets = new Set<Socket>();
  let isAway = false;
  const server = createServer({ allowHalfOpen: true }, (near) => {
    near.on('error', () => undefined);
    if (isAway) {
      near.resetAndDestroy();
      return;
    }
    const far = connect({ path: '/var/run/docker.sock', allowHalfOpen: true });
    far.on('error', () => near.destroy());
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    }
    near.pipe(far);
    far.pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const drop = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    host: `tcp://127.0.0.1:${address.port}`,
    takeAway() {
      isAway = true;
      drop();
    },
    giveBack: () => void (isAway = false),
    async close() {
      drop();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
