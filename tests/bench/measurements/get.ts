import { privateKey } from "../../authentication/ssh_key/user_keys.ts";
import { signToken } from "../../authentication/sign_token.ts";
import { BASIC, type BenchSite, startBareServer, startBenchSite } from "../bench_site.ts";
import { compare } from "../comparison.ts";
import type { Measurement } from "../figure.ts";
import type { Load } from "../wrk.ts";

const LOAD = { connections: 32, seconds: 2 };
/** Enough that none comes twice in one round. */
const FRESH_TOKENS = 20_000;

export const password: Measurement = {
  name: "password",
  summary: "GET /rest/auth with a password (MD5), against a bare node:https server with the same bytes",
  run: () => againstBare({ headers: { Authorization: BASIC } }, 0.8),
};

export const token: Measurement = {
  name: "token",
  summary: "GET /rest/auth with an SSH-key token that is used again",
  run: () => againstBare({ headers: { Authorization: `Bearer ${sshToken()}` } }, 0.7),
};

export const freshTokens: Measurement = {
  name: "fresh-tokens",
  summary: "GET /rest/auth with another Ed25519 token each time",
  run: () => againstBare({ authorizations: freshAuthorizations() }),
};

/** Credentials of alice, another token in each. */
export function freshAuthorizations(): readonly string[] {
  return Array.from({ length: FRESH_TOKENS }, (_, i) => `Bearer ${sshToken(String(i))}`);
}

export const connections: Measurement = {
  name: "connections",
  summary: "A new TLS connection for each GET /rest/auth",
  run: () => againstBare({ headers: { Authorization: BASIC, Connection: "close" } }, 0.9),
};

async function againstBare(load: Pick<Load, "headers" | "authorizations">, atLeast?: number) {
  await using bench: BenchSite = await startBenchSite();
  const bare = await startBareServer(bench);
  await using process = bare.process;
  return await compare(
    { process: bench.process, load: { ...LOAD, ...load, url: `${bench.url}/rest/auth` } },
    { process, load: { ...LOAD, ...load, url: `${bare.url}/rest/auth` } },
    atLeast,
  );
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
