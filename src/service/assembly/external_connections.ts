import type { Authenticator } from "../../authentication/authenticator.ts";
import type { Remote } from "../../config/kind.ts";
import type { DaemonGroup } from "../../daemon/daemon_group.ts";

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
