import assert from "node:assert/strict";
import type { Outgoing, OutgoingHttp } from "../../src/outgoing/outgoing.ts";

/** Connections to other systems of which a test expects HTTP alone; without a client none at all. */
export function onlyHttp(http?: OutgoingHttp): Outgoing {
  return {
    http: () => http ?? assert.fail("no system is asked"),
    connect: () => assert.fail("no connection is opened"),
    connectionsPerHost: 6,
  };
}
