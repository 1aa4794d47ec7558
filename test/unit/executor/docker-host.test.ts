import { describe, expect, it } from 'vitest';
import { parseDockerHost } from '../../../src/worker/executor/docker/docker-host.js';

const none = { host: undefined, port: undefined, socketPath: undefined };

describe('the engine’s address', () => {
  it.each([
    [undefined, { ...none, socketPath: '/var/run/docker.sock' }],
    ['unix:///run/user/1000/docker.sock', { ...none, socketPath: '/run/user/1000/docker.sock' }],
    ['tcp://10.0.0.1:2375', { ...none, host: '10.0.0.1', port: 2375 }],
    ['tcp://engine', { ...none, host: 'engine', port: 2375 }],
    ['http://engine:8080/', { ...none, host: 'engine', port: 8080 }],
    ['http://engine', { ...none, host: 'engine', port: 80 }],
  ])('%s is understood', (text, expected) => {
    expect(parseDockerHost(text)).toMatchObject(expected);
  });

  it.each([
    '',
    'engine:2375',
    'unix://',
    'unix://relative',
    'https://e:2376',
    'ssh://me@e',
    'tcp://',
    'tcp://e:1/path',
    'npipe:////./pipe/docker_engine',
  ])('%j is refused', (text) => {
    expect(() => parseDockerHost(text)).toThrow(/DOCKER_HOST/);
  });
});
