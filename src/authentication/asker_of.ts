import { addressGroup } from "../model/address_group.ts";
import type { Credentials } from "../model/credentials.ts";
import type { Asker } from "../outgoing/remote_system.ts";
import { seekerOf } from "./seeker_of.ts";

/**
 * On whose behalf another system is asked.
 * @param credential Stands for the credential in the caller's cache.
 */
export function askerOf(credentials: Credentials, credential: string, signal: AbortSignal): Asker {
  return { ...seekerOf(credentials, signal), credential, address: addressGroup(credentials.clientAddress) };
}
