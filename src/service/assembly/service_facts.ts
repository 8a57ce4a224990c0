import type { AttributeSource } from "../../attributes/attribute_source.ts";
import type { Authenticator } from "../../authentication/authenticator.ts";
import { type Remote, withKinds } from "../../config/kind.ts";
import type { DaemonGroup } from "../../daemon/daemon_group.ts";
import { certificateSubject } from "../../model/certificate_subject.ts";
import type { ServiceFacts } from "../../resource/service_section.ts";
import { configuredKinds, type ServiceKinds } from "../kinds.ts";
import { VERSION } from "../version.ts";
import type { Cluster } from "./open_cluster.ts";
import type { Opening } from "./service_options.ts";

/** Returns the facts about the service. */
export async function serviceFacts(
  { config, assertionIssuers, upSince, own, clock }: Opening,
  { groups, authenticators, attributes, kinds, cluster }: {
    readonly groups: readonly DaemonGroup[];
    readonly authenticators: readonly Authenticator[];
    readonly attributes: AttributeSource;
    readonly kinds: ServiceKinds;
    readonly cluster: Cluster | undefined;
  },
): Promise<ServiceFacts> {
  const methods = await withKinds(config.authentication.authenticators, kinds.authenticators);
  const remotes = (await configuredKinds(config, kinds)).map(({ config, kind }) => {
    const authenticator = authenticators[methods.findIndex((method) => method.config === config)];
    return [kind.remotes?.(config) ?? [], authenticator ?? attributes] as const;
  });
  return {
    siteName: config.site.name,
    version: VERSION,
    upSince,
    cluster: cluster?.health,
    clock,
    credential: own.facts,
    trustedCAs: own.trusted,
    trustedSAMLIssuers: () => assertionIssuers.map((issuer) => certificateSubject(issuer)),
    externalConnections: () => externalConnections(groups, remotes),
    methods: new Map([
      ["ETD", "token of this service"],
      ...methods.flatMap(({ kind }) => Object.entries(kind.methods ?? {})),
    ]),
  };
}

/** State of another system; `UNKNOWN` before its first answer. */
type ConnectionState = "OK" | "DOWN" | "UNKNOWN";

/** The worst state of a system wins: other authenticators may not have used it lately. */
const NEWS: readonly ConnectionState[] = ["UNKNOWN", "OK", "DOWN"];

type Connected = readonly [
  remotes: readonly Pick<Remote, "label" | "address">[],
  part: Pick<AttributeSource, "status"> | undefined,
];

/** Returns other systems by the Java service's names (rest-api.md 1.9). */
export function externalConnections(
  groups: readonly Pick<DaemonGroup, "name" | "size" | "status">[],
  parts: readonly Connected[],
): Readonly<Record<string, ConnectionState>> {
  const states = new Map<string, ConnectionState>();
  for (const [system, state] of [...groups.flatMap(daemonStates), ...parts.flatMap(remoteStates)]) {
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

function remoteStates([remotes, part]: Connected): [string, ConnectionState][] {
  return remotes.flatMap(({ label, address }) => {
    const status = part?.status?.(address);
    if (status === undefined) return [];
    return [[`${label} ${address}`, status.since === undefined ? "UNKNOWN" : status.up ? "OK" : "DOWN"]];
  });
}
