import type { Table } from "../config/key.ts";
import type { KindConfig } from "../config/service_config.ts";
import type { Logger } from "../logging/logger.ts";
import type { Clock } from "../model/clock.ts";
import type { ReplayRecord } from "../model/replay_cache.ts";
import type { Trust } from "../model/tls_material.ts";
import type { Outgoing } from "../outgoing/outgoing.ts";
import type { ProbedKind } from "../outgoing/probed_kind.ts";
import type { RecordStore } from "../store/record_store.ts";
import type { Authenticator } from "./authenticator.ts";
import type { KeySource } from "./ssh_key/key_directory.ts";
import { type KindList, kindOf, openAll } from "../config/kind.ts";

export interface AuthenticatorParts {
  readonly log: Logger;
  readonly clock: Clock;
  readonly sharedClock: Clock; // of the cluster, for what its instances compare
  readonly keySources: readonly KeySource[]; // servers whose daemons know users' SSH keys
  readonly records: () => RecordStore | undefined; // absent without `persistence.directory`
  readonly proofs: ReplayRecord; // proofs of possession and logout tokens already presented
  readonly serverName: () => string; // server's DN from its current certificate, or empty; no client may use it
  readonly clientTrust: () => Trust | undefined; // current one; absent: no check
  readonly outgoing: Outgoing;
  readonly assertions: {
    readonly url: string; // own URL without trailing slash: issuer, recipient and audience
    readonly additionalIdentifiers: readonly string[]; // aliases as recipient and audience
    readonly issuers: () => readonly string[]; // current issuer certificates, PEM
    readonly anchors: () => readonly string[]; // current trust anchors, PEM, for signatures without `validate`
  };
  /** Present if gateway support is on: clients authenticate to the gateway, which forwards their name. */
  readonly gateway: { readonly certificate: string | undefined } | undefined;
}

/** Kind of authenticator; its module is loaded on demand. */
export interface AuthenticatorKind<T extends Table = Table, S extends object = object>
  extends ProbedKind<T, S> {
  /** @throws If it cannot start. */
  create(config: S & KindConfig, parts: AuthenticatorParts): Promise<Authenticator>;
}

/** Declares a kind, with types derived from its keys. */
export function authenticatorKind<const T extends Table, S extends object>(
  kind: AuthenticatorKind<T, S>,
): AuthenticatorKind<T, S> {
  return kind;
}

/** Creates the configured authenticators. @throws As {@link openAll}. */
export async function createAuthenticators(
  configs: readonly KindConfig[],
  list: KindList<AuthenticatorKind>,
  parts: AuthenticatorParts,
): Promise<readonly Authenticator[]> {
  return await openAll(configs, async (config) => (await kindOf(config, list)).create(config, parts));
}
