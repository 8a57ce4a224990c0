import { privateKey } from "../../authentication/ssh_key/user_keys.ts";
import { signToken } from "../../authentication/sign_token.ts";
import { BASIC, type BenchSite, startBareServer, startBenchSite } from "../bench_site.ts";
import type { ChildProcess } from "../child_process.ts";
import { compare, type CostPromise, type Side } from "../comparison.ts";
import type { Measurement } from "../figure.ts";
import { type Load, runWrk } from "../wrk.ts";

/**
 * Concurrent connections. Client, edge and core are three busy threads. On two cores, each sometimes waits
 * for a core; the fewer requests are in flight, the more often the other threads are idle meanwhile.
 */
const CONNECTIONS = 64;
/** Number of tokens, so that no token is used twice in a round. */
const FRESH_TOKENS = 20_000;

export const password: Measurement = {
  name: "password",
  summary:
    "GET /rest/auth with a password (MD5), compared with a bare node:https server that sends the same bytes",
  note: "Client, edge and core are three busy threads on two cores, so the rate depends on the client too.",
  run: () => againstBare(() => ({ headers: { Authorization: BASIC } }), { all: 1.7, edge: 1.1 }),
};

export const token: Measurement = {
  name: "token",
  summary: "GET /rest/auth with the same SSH key token each time",
  run: () =>
    againstBare(() => ({ headers: { Authorization: `Bearer ${sshToken()}` } }), { all: 2.2, edge: 1.2 }),
};

export const freshTokens: Measurement = {
  name: "fresh-tokens",
  summary: "GET /rest/auth with a new Ed25519 token each time",
  run: () => againstBare(() => ({ authorizations: freshAuthorizations() })),
};

/** Returns `Authorization` values of alice, each with another token. */
export function freshAuthorizations(): readonly string[] {
  return Array.from({ length: FRESH_TOKENS }, (_, i) => `Bearer ${sshToken(String(i))}`);
}

export const connectionsWithLogin: Measurement = {
  name: "connections-with-login",
  summary: "A new TLS connection for each GET /rest/auth with a password",
  note:
    "Both at once, a handshake and a login. Client and bare server fill both cores between them, so whatever else is done for a connection lowers the ratio: here the way to the core and back, and a second send, since the tickets of TLS leave before an answer that comes from another thread. Measured again on the same machine it came out between 0.71 and 0.92, with what else the host did.",
  run: () => againstBare(() => ({ headers: { Authorization: BASIC, Connection: "close" } })),
};

/**
 * @param load Makes the load of a round: tokens expire after five minutes, which may be too short for all.
 */
async function againstBare(load: () => Pick<Load, "headers" | "authorizations">, atMost?: CostPromise) {
  await using bench: BenchSite = await startBenchSite();
  const bare = await startBareServer(bench);
  await using process = bare.process;
  const side = (of: ChildProcess, url: string): Side => ({
    process: of,
    run: (seconds) => runWrk({ ...load(), connections: CONNECTIONS, seconds, url: `${url}/rest/auth` }),
  });
  return await compare(side(bench.process, bench.url), side(process, bare.url), {
    unit: "requests/s",
    atMost,
  });
}

function sshToken(id?: string): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    sub: "alice",
    iss: "alice",
    iat: now,
    exp: now + 300,
    ...(id !== undefined && { jti: id }),
  };
  return signToken({ claims, key: privateKey("user_ed25519") });
}
