import type { Authenticator } from "../../authentication/authenticator.ts";
import type { MethodConfig } from "../../config/service_config.ts";
import type { DaemonGroup } from "../../daemon/daemon_group.ts";

/** How another system is; `UNKNOWN` before its first answer. */
export type ConnectionState = "OK" | "DOWN" | "UNKNOWN";

/** Of several methods that ask one system, the one with the worst news is shown: the others just have not asked lately. */
const NEWS: readonly ConnectionState[] = ["UNKNOWN", "OK", "DOWN"];

/** A configured method, and what runs of it. */
export type ConfiguredMethod = readonly [
  config: { readonly kind: MethodConfig["kind"]; readonly address?: string },
  method: Pick<Authenticator, "status"> | undefined,
];

/** Systems that a service speaks with, under the names the Java service gives them (rest-api.md 1.9). */
export function externalConnections(
  groups: readonly Pick<DaemonGroup, "name" | "size" | "status">[],
  methods: readonly ConfiguredMethod[],
): Readonly<Record<string, ConnectionState>> {
  const states = new Map<string, ConnectionState>();
  for (const [system, state] of [...groups.flatMap(daemonStates), ...methods.flatMap(providerState)]) {
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

/** State of the identity provider that a method asks, if it asks one. */
function providerState([{ kind, address }, method]: ConfiguredMethod): [string, ConnectionState][] {
  if (address === undefined || method?.status === undefined) return [];
  const system = kind === "OAuthAuthenticator" ? "OIDC Server" : "Unity";
  const { up, since } = method.status();
  return [[`${system} ${address}`, since === undefined ? "UNKNOWN" : up ? "OK" : "DOWN"]];
}
