import { SkillmillError } from '../../../shared/errors/skillmill-error.js';

const DEFAULT_SOCKET = '/var/run/docker.sock';

/** Where an engine listens, in words that the user knows and as connection options. */
export interface EngineAddress {
  readonly label: string;
  readonly socketPath: string | undefined;
  readonly host: string | undefined;
  readonly port: number | undefined;
}

/** Reads `unix:///path`, `tcp://host:port` or `http://host:port`; nothing means the usual socket. @throws SkillmillError CONFIG_INVALID */
export function parseDockerHost(text: string | undefined): EngineAddress {
  const given = text ?? `unix://${DEFAULT_SOCKET}`;
  if (given.startsWith('unix://')) {
    const socketPath = given.slice('unix://'.length);
    if (!socketPath.startsWith('/')) throw badHost(given);
    return { label: given, socketPath, host: undefined, port: undefined };
  }
  const asHttp = given.replace(/^tcp:/, 'http:');
  if (!asHttp.startsWith('http://') || !URL.canParse(asHttp)) throw badHost(given);
  const url = new URL(asHttp);
  if (url.pathname !== '/') throw badHost(given);
  const port = url.port === '' ? (given.startsWith('tcp:') ? 2375 : 80) : Number(url.port);
  return { label: given, socketPath: undefined, host: url.hostname, port };
}

function badHost(given: string): SkillmillError {
  return new SkillmillError(
    'CONFIG_INVALID',
    `DOCKER_HOST is ${JSON.stringify(given)}, which is not understood: use unix:///path/to/docker.sock or tcp://host:port (without TLS).`,
  );
}
