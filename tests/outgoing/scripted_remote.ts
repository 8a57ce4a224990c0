import assert from "node:assert/strict";
import { SILENT } from "../../src/logging/logger.ts";
import type { OutgoingHttp, OutgoingResponse } from "../../src/outgoing/outgoing.ts";
import { RemoteHttp } from "../../src/outgoing/remote_http.ts";
import { RemoteUnavailable } from "../../src/outgoing/remote_unavailable.ts";

const NEVER = new AbortController().signal;
export const REQUEST = { method: "GET", url: "https://idp.example:8443/x" } as const;
export const OK: OutgoingResponse = { status: 200, headers: {}, body: "" };
export const BROKEN: OutgoingResponse = { ...OK, status: 500 };

/** Returns a system whose answers the test supplies one by one. */
export function subject({ log = SILENT, connectionsPerHost = 6 } = {}) {
  const time = { now: 1_000_000, elapsed: 5_000 };
  const calls: ReturnType<typeof Promise.withResolvers<OutgoingResponse>>[] = [];
  const http: OutgoingHttp = {
    connectionsPerHost,
    send() {
      const call = Promise.withResolvers<OutgoingResponse>();
      calls.push(call);
      return call.promise;
    },
  };
  const system = new RemoteHttp({
    address: REQUEST.url,
    http,
    clock: () => time.now,
    elapsed: () => time.elapsed,
    log,
  });
  const ask = (credential: string, address = "192.0.2.1", { signal = NEVER, known = false } = {}) =>
    system.ask(REQUEST, { credential, address, queueKey: address, known, signal }, (response) => {
      if (response.status >= 500) throw system.unusable(`unexpected status ${response.status}`);
      return response.status;
    });
  /** Sends a request, and supplies this answer or error if it reaches the system. */
  const outcome = async (answer: OutgoingResponse | Error, ...about: Parameters<typeof ask>) => {
    const before = calls.length;
    const asked = ask(...about);
    asked.catch(() => {});
    for (let i = 0; i < 5 && calls.length === before; i++) await Promise.resolve();
    if (answer instanceof Error) calls[before]?.reject(answer);
    else calls[before]?.resolve(answer);
    return await asked.catch((error: unknown) => {
      assert.ok(error instanceof RemoteUnavailable, String(error));
      return error.reason;
    });
  };
  return { time, calls, system, ask, outcome };
}
