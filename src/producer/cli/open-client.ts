import type { Client } from '../client.js';

/** A client of the environment's settings. Loaded only here, so that --help and wrong usage answer without Redis' libraries. */
export async function openClient(): Promise<Client> {
  const { createClient } = await import('../client.js');
  return createClient();
}
