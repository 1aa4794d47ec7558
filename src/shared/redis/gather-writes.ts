import type { Redis } from 'ioredis';

/**
 * What is sent in one round of the event loop leaves in one write: a system call costs this process, and its server, more than a
 * command does. Order and fate of each command stay what they are: the socket itself holds its bytes back for so long.
 */
export function gatherWrites(connection: Redis): void {
  const send = connection.sendCommand.bind(connection);
  let isGathering = false;
  connection.sendCommand = (command, stream) => {
    if (!isGathering && connection.status === 'ready') {
      const socket = connection.stream;
      isGathering = true;
      socket.cork();
      setImmediate(() => {
        isGathering = false;
        socket.uncork();
      });
    }
    return send(command, stream);
  };
}
