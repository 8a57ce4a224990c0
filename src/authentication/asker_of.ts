import { addressGroup } from "../model/address_group.ts";
import type { Credentials } from "../model/credentials.ts";
import type { Asker } from "../outgoing/remote_system.ts";
import type { SemaphoreWaiter } from "../model/fair_semaphore.ts";

/** Where a caller waits for work to be done: strangers in the queue key of their address, whoever is known in one of their own. */
export function seekerOf(
  { clientAddress, knownAs }: Pick<Credentials, "clientAddress" | "knownAs">,
  signal: AbortSignal,
): SemaphoreWaiter {
  return { queueKey: knownAs ?? addressGroup(clientAddress), known: knownAs !== undefined, signal };
}

/**
 * On whose behalf another system is asked.
 * @param credential Stands for the credential in the caller's cache.
 */
export function askerOf(
  credentials: Pick<Credentials, "clientAddress" | "knownAs">,
  credential: string,
  signal: AbortSignal,
): Asker {
  return { ...seekerOf(credentials, signal), credential, address: addressGroup(credentials.clientAddress) };
}
