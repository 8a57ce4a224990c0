import assert from "node:assert/strict";
import type { TlsMaterial } from "../../src/model/tls_material.ts";
import { type CommandSocket, exchange } from "../../src/daemon/command_connection.ts";
import type { SessionOrder } from "../../src/daemon/daemon_group.ts";
import { encodePing } from "../../src/daemon/encode_command.ts";
import { type DaemonOptions, type DaemonSimulator, startDaemon } from "../daemon_simulator/daemon.ts";
import { createAuthority } from "../pki/authority.ts";

/** The authority that both sides trust. */
export const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });

/** Names us and the daemons: without host names, as in the field. */
export const ours = authority.issue({ subject: "CN=AUTH,O=Demo,C=EU" });
export const daemons = authority.issue({ subject: "CN=UFTPD,O=Demo,C=EU" });

export const material: TlsMaterial = { ...ours, anchors: [authority.certificate] };

/** A session that every daemon here grants. */
export const ORDER: SessionOrder = {
  user: "alice",
  clientAddresses: ["192.0.2.7"],
  file: "/data/",
  permission: "FULL",
  persistent: false,
  streams: 1,
  compress: false,
  rateLimit: 0,
};

/** A daemon that admits us and nobody else. Ends with the check that it was never wedged. */
export function startTlsDaemon(options: DaemonOptions = {}): Promise<DaemonSimulator> {
  return startDaemon({
    tls: { ...daemons, trusted: [authority.certificate] },
    acl: "CN=AUTH,O=Demo,C=EU\n",
    users: { alice: { uid: 1000, home: "/home/alice", groups: ["users"] } },
    ...options,
  });
}

/** The way to a daemon, with our own certificate or another. */
export function commandSocket(daemon: DaemonSimulator, shown: TlsMaterial = material): CommandSocket {
  return { host: daemon.host, port: daemon.commandPort, tls: { material: () => shown } };
}

/**
 * Waits until a daemon has judged every connection it took: one is served after the other, so after an answer to a ping
 * none is left. A daemon that is stopped has none.
 */
export async function settle(daemon: DaemonSimulator): Promise<void> {
  daemon.fault = undefined;
  daemon.commandFaults.queue.length = 0;
  daemon.delay = 0;
  const result = await exchange(commandSocket(daemon), encodePing(), {
    limits: () => ({ connect: 5000, handshake: 5000, reply: 5000 }),
    signal: new AbortController().signal,
    clock: Date.now,
  });
  assert(result.kind === "answered" || result.fault === "refused");
}
