import { addressGroup } from "../model/address.ts";
import type { Credentials } from "../model/credentials.ts";
import type { Requester } from "../outgoing/remote_system.ts";
import type { SemaphoreWaiter } from "../model/fair_semaphore.ts";

/** Returns the queue key: unknown clients share that of their address, known users have their own. */
export function waiterOf(
  { clientAddress, knownAs }: Pick<Credentials, "clientAddress" | "knownAs">,
  signal: AbortSignal,
): SemaphoreWaiter {
  return { queueKey: knownAs ?? addressGroup(clientAddress), known: knownAs !== undefined, signal };
}

/** Returns the caller for whom another system is called. @param credential Key of the credential in the caller's cache. */
export function requesterOf(
  credentials: Pick<Credentials, "clientAddress" | "knownAs">,
  credential: string,
  signal: AbortSignal,
): Requester {
  return { ...waiterOf(credentials, signal), credential, address: addressGroup(credentials.clientAddress) };
}
