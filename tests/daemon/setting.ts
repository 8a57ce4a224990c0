import assert from "node:assert/strict";
import type { TlsMaterial } from "../../src/model/tls_material.ts";
import { type CommandSocket, exchange } from "../../src/daemon/command_connection.ts";
import type { SessionRequest } from "../../src/daemon/daemon_group.ts";
import { encodePing } from "../../src/daemon/encode_command.ts";
import { type DaemonOptions, type DaemonSimulator, startDaemon } from "../daemon_simulator/daemon.ts";
import { createAuthority } from "../pki/authority.ts";

/** Certificate authority trusted by both sides. */
export const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });

/** Certificates of the service and of the daemons: without host names, as in practice. */
export const ours = authority.issue({ subject: "CN=AUTH,O=Demo,C=EU" });
export const daemons = authority.issue({ subject: "CN=UFTPD,O=Demo,C=EU" });

export const material: TlsMaterial = { ...ours, anchors: [authority.certificate] };

/** Order for a session that every daemon of these tests grants. */
export const ORDER: SessionRequest = {
  user: "alice",
  clientAddresses: ["192.0.2.7"],
  file: "/data/",
  permission: "FULL",
  persistent: false,
  streams: 1,
  compress: false,
  rateLimit: 0,
};

/** Starts a daemon that admits only the service. At its end, it checks that it was never wedged. */
export function startTlsDaemon(options: DaemonOptions = {}): Promise<DaemonSimulator> {
  return startDaemon({
    tls: { ...daemons, trusted: [authority.certificate] },
    acl: "CN=AUTH,O=Demo,C=EU\n",
    users: { alice: { uid: 1000, home: "/home/alice", groups: ["users"] } },
    ...options,
  });
}

/** Returns the command socket of a daemon, with our own certificate or another. */
export function commandSocket(daemon: DaemonSimulator, shown: TlsMaterial = material): CommandSocket {
  return { host: daemon.host, port: daemon.commandPort, tls: { material: () => shown } };
}

/**
 * Waits until a daemon has finished every connection that it accepted: it serves one after the other, so none
 * is left after the answer to a ping. A stopped daemon has none.
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
