import assert from "node:assert/strict";
import type { Outgoing, OutgoingHttp } from "../../src/outgoing/outgoing.ts";

/** Returns outgoing connections for tests that expect only HTTP, or no connections without a client. */
export function onlyHttp(http?: OutgoingHttp): Outgoing {
  return {
    http: () => http ?? assert.fail("no system is asked"),
    connect: () => assert.fail("no connection is opened"),
    connectionsPerHost: 6,
  };
}
