import type { Table } from "../config/key.ts";
import type { KindConfig } from "../config/kind_config.ts";
import type { Logger } from "../logging/logger.ts";
import type { Clock } from "../model/clock.ts";
import type { ReplayCache } from "../model/replay_cache.ts";
import type { Revocation } from "../model/trust/revocation.ts";
import type { OutgoingHttp } from "../outgoing/outgoing_http.ts";
import type { ProbedKind } from "../outgoing/probed_kind.ts";
import type { RecordStore } from "../store/record_store.ts";
import type { Authenticator } from "./authenticator.ts";
import type { KeySource } from "./ssh_key/server_keys.ts";

/** What the methods are made with besides their configuration. */
export interface AuthenticatorParts {
  readonly log: Logger;
  readonly clock: Clock;
  /** The logical servers, whose daemons know users' own keys. */
  readonly keySources: readonly KeySource[];
  /** What is kept beside the shares; absent without `persistence.directory`. */
  readonly records: () => RecordStore | undefined;
  /** Proofs of possession that were shown. */
  readonly proofs: ReplayCache;
  /** The server's own name, from the certificate in use; empty without one. */
  readonly serverName: () => string;
  /** What the authorities of clients have revoked as of now; absent: nobody asks. */
  readonly revocation: () => Revocation | undefined;
  /** A client for other systems that shows the server's certificate, or one that does not. */
  readonly outgoing: (showCertificate: boolean) => OutgoingHttp;
  /** What assertions are held against. */
  readonly assertions: {
    /** The service's own URL, without trailing slash. */
    readonly url: string;
    readonly additionalIdentifiers: readonly string[];
    readonly issuers: () => readonly string[];
    readonly anchors: () => readonly string[];
  };
  /** Present if gateway support is on. */
  readonly gateway: { readonly certificate: () => string | undefined } | undefined;
}

/** One kind of authenticator; what it is made of is loaded when one is made. */
export interface AuthenticatorKind<T extends Table = Table, S extends object = object>
  extends ProbedKind<T, S> {
  /** @throws If it cannot start. */
  create(config: S & KindConfig, parts: AuthenticatorParts): Promise<Authenticator>;
}

/** Describes a kind; the types of its functions follow from its keys and from what it reads of them. */
export function authenticatorKind<const T extends Table, S extends object>(
  kind: AuthenticatorKind<T, S>,
): AuthenticatorKind<T, S> {
  return kind;
}
