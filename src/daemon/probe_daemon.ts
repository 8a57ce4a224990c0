import type { Clock } from "../model/clock.ts";
import type { TlsMaterial } from "../model/tls_material.ts";
import { exchange } from "./command_connection.ts";
import { DAEMON_LIMITS, type DaemonInstanceConfig } from "./daemon_pool.ts";
import { encodePing } from "./encode_command.ts";
import { describeFailure, type Failure, failure, type Fault } from "./exchange.ts";
import { parsePing, type PingReply } from "./parse_reply.ts";

/** Result of one ping. */
type DaemonProbe =
  | ({ readonly kind: "answered" } & PingReply)
  | { readonly kind: "failed"; readonly fault: Fault; readonly reason: string };

/** Pings a daemon once. Always completes, within 25 s, since a broken connection hangs a daemon. */
export async function probeDaemon(
  { commandHost: host, commandPort: port, ssl, expectedDn, allowUnverifiable }: Omit<
    DaemonInstanceConfig,
    "port"
  >,
  { tls, clock }: { readonly tls: () => TlsMaterial; readonly clock: Clock },
): Promise<DaemonProbe> {
  const security = { material: tls, allowUnverifiable, expectedDn };
  const result = await exchange({ host, port, tls: ssl ? security : undefined }, encodePing(), {
    limits: () => DAEMON_LIMITS,
    signal: new AbortController().signal,
    clock,
  });
  if (result.kind === "failed") return failed(result);
  const reply = parsePing(result.reply);
  return reply === undefined ? failed(failure("invalid-reply", "after")) : { kind: "answered", ...reply };
}

function failed(result: Failure): DaemonProbe {
  return { kind: "failed", fault: result.fault, reason: describeFailure(result) };
}
