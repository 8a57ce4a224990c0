import type { Authenticator } from "../../authentication/authenticator.ts";
import { kindOf } from "../../config/kind.ts";
import type { DaemonGroup } from "../../daemon/daemon_group.ts";
import { certificateSubject } from "../../model/certificate_subject.ts";
import type { Clock } from "../../model/clock.ts";
import type { ServiceFacts } from "../../resource/service_section.ts";
import type { ServiceKinds } from "../kinds.ts";
import { VERSION } from "../version.ts";
import { externalConnections } from "./external_connections.ts";
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
