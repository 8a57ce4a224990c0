import type { Authenticator } from "../../authentication/authenticator.ts";
import { kindOf, type Remote } from "../../config/kind.ts";
import type { DaemonGroup } from "../../daemon/daemon_group.ts";
import { certificateSubject } from "../../model/certificate_subject.ts";
import type { Clock } from "../../model/clock.ts";
import type { ServiceFacts } from "../../resource/service_section.ts";
import type { ServiceKinds } from "../kinds.ts";
import { VERSION } from "../version.ts";
import type { OwnCertificate } from "./own_certificate.ts";
import type { ServiceOptions } from "./service_options.ts";

/** Returns the facts about the service. */
export function serviceFacts(
  { config, assertionIssuers, upSince }: ServiceOptions,
  { own, groups, authenticators, kinds, clock, externalUrl, cluster }: {
    readonly own: OwnCertificate;
    readonly groups: readonly DaemonGroup[];
    readonly authenticators: readonly Authenticator[];
    readonly kinds: ServiceKinds;
    readonly clock: Clock;
    readonly externalUrl: string;
    readonly cluster: ServiceFacts["cluster"];
  },
): ServiceFacts {
  const remotes = config.authentication.authenticators.map((authenticator, i) =>
    [kindOf(authenticator, kinds.authenticators).remotes?.(authenticator) ?? [], authenticators[i]] as const
  );
  return {
    siteName: config.site.name,
    supposedUrl: config.site.externalUrlGiven ? undefined : externalUrl,
    version: VERSION,
    upSince,
    cluster,
    clock,
    credential: own.facts,
    trustedCAs: own.trusted,
    trustedSAMLIssuers: () => assertionIssuers.map((issuer) => certificateSubject(issuer)),
    externalConnections: () => externalConnections(groups, remotes),
  };
}

/** State of another system; `UNKNOWN` before its first answer. */
type ConnectionState = "OK" | "DOWN" | "UNKNOWN";

/** The worst state of a system wins: other authenticators may not have used it lately. */
const NEWS: readonly ConnectionState[] = ["UNKNOWN", "OK", "DOWN"];

type ConfiguredAuthenticator = readonly [
  remotes: readonly Pick<Remote, "shownAs" | "address">[],
  authenticator: Pick<Authenticator, "status"> | undefined,
];

/** Returns other systems by the Java service's names (rest-api.md 1.9). */
export function externalConnections(
  groups: readonly Pick<DaemonGroup, "name" | "size" | "status">[],
  authenticators: readonly ConfiguredAuthenticator[],
): Readonly<Record<string, ConnectionState>> {
  const states = new Map<string, ConnectionState>();
  for (const [system, state] of [...groups.flatMap(daemonStates), ...authenticators.flatMap(providerState)]) {
    const known = states.get(system);
    if (known === undefined || NEWS.indexOf(state) > NEWS.indexOf(known)) states.set(system, state);
  }
  return Object.fromEntries(states);
}

function daemonStates(group: Pick<DaemonGroup, "name" | "size" | "status">): [string, ConnectionState][] {
  const { name, size } = group;
  return group.status().instances.map(({ instance, up, unchecked }) => [
    `UFTPD server '${size === 1 ? name : `${name}-${instance}`}'`,
    unchecked ? "UNKNOWN" : up ? "OK" : "DOWN",
  ]);
}

function providerState([remotes, authenticator]: ConfiguredAuthenticator): [string, ConnectionState][] {
  if (authenticator?.status === undefined) return [];
  const { up, since } = authenticator.status();
  const state = since === undefined ? "UNKNOWN" : up ? "OK" : "DOWN";
  return remotes.map(({ shownAs, address }) => [`${shownAs} ${address}`, state]);
}
