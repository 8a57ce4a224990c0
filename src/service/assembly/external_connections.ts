import type { Authenticator } from "../../authentication/authenticator.ts";
import type { Remote } from "../../config/kind.ts";
import type { DaemonGroup } from "../../daemon/daemon_group.ts";

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
