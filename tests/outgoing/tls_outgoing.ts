import assert from "node:assert/strict";
import { SILENT } from "../../src/logging/logger.ts";
import { connectTls } from "../../src/outgoing/connect_tls.ts";
import type { Outgoing } from "../../src/outgoing/outgoing.ts";

/** Returns outgoing TLS connections like those of the service, with these authorities. */
export function tlsOutgoing(authorities: readonly string[]): Outgoing & { readonly opened: number } {
  let opened = 0;
  return {
    get opened() {
      return opened;
    },
    http: () => assert.fail("HTTP is not asked for"),
    async connect(remote, signal) {
      const config = { hostnameChecking: "FAIL", connectTimeoutMs: 5_000 } as const;
      const anchors = await remote.anchors?.() ?? authorities;
      const connection = await connectTls(remote, { config, trust: { anchors }, log: SILENT }, signal);
      opened++;
      return connection;
    },
    connectionsPerHost: 6,
  };
}
