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

/** What the service says about itself. */
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

/** How another system is; `UNKNOWN` before its first answer. */
type ConnectionState = "OK" | "DOWN" | "UNKNOWN";

/** Of several methods that ask one system, the one with the worst news is shown: the others just have not asked lately. */
const NEWS: readonly ConnectionState[] = ["UNKNOWN", "OK", "DOWN"];

/** The systems that a configured method asks, and what runs of it. */
type ConfiguredAuthenticator = readonly [
  remotes: readonly Pick<Remote, "shownAs" | "address">[],
  authenticator: Pick<Authenticator, "status"> | undefined,
];

/** Systems that a service speaks with, under the names the Java service gives them (rest-api.md 1.9). */
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

/** State of the identity providers that a method asks, if it asks any. */
function providerState([remotes, authenticator]: ConfiguredAuthenticator): [string, ConnectionState][] {
  if (authenticator?.status === undefined) return [];
  const { up, since } = authenticator.status();
  const state = since === undefined ? "UNKNOWN" : up ? "OK" : "DOWN";
  return remotes.map(({ shownAs, address }) => [`${shownAs} ${address}`, state]);
}
