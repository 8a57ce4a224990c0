import { createPublicKey } from "node:crypto";
import { cpuUsage } from "node:process";
import { importJWK, type JWK, jwtVerify } from "jose";
import { readForeignToken } from "../../../src/authentication/signed_token.ts";
import { isSignedBy } from "../../../src/authentication/jws_signature.ts";
import { createSigner, type SigningAlgorithm } from "../../identity_provider/token_issuer.ts";
import { startOidcProvider } from "../../identity_provider/oidc_provider.ts";
import { createAuthority } from "../../pki/authority.ts";
import { authenticatorProperties } from "../../system/every_method.ts";
import { startBenchSite } from "../bench_site.ts";
import { type Figure, type Measurement, median } from "../figure.ts";

const ALGORITHMS: readonly SigningAlgorithm[] = ["EdDSA", "RS256", "ES256"];
/** Promised cost of a verified token beyond that of a cached token, as a multiple of `jose.jwtVerify`. */
const PROMISED = { atMost: 1.5 };
/** Rounds of each kind of token; the kinds alternate, so that a disturbance affects both. */
const ROUNDS = 5;
/** Requests of a round. Signing takes longer than verifying, so there are few. */
const REQUESTS = 1_000;
/** Concurrent requests. */
const AT_ONCE = 32;

interface Cost {
  readonly all: number;
  readonly core: number;
}

/** Returns the processor time of one call, for all threads of this process, in microseconds. */
async function timeOf(texts: readonly string[], call: (text: string) => unknown): Promise<number> {
  const before = cpuUsage();
  for (const text of texts) await call(text);
  const { user, system } = cpuUsage(before);
  return (user + system) / texts.length;
}

/** Measures the steps of verifying a token in this process; `library` measures verification by `jose`. */
async function partsOf(alg: SigningAlgorithm, jwk: JWK, authorizations: readonly string[]) {
  const textsOf = (all: readonly string[]) => all.map((each) => each.slice("Bearer ".length));
  const texts = textsOf(authorizations);
  const key = createPublicKey({ key: { ...jwk }, format: "jwk" });
  const verifying = await importJWK({ ...jwk }, alg);
  const library = (all: readonly string[]) =>
    timeOf(textsOf(all), (text) => jwtVerify(text, verifying, { audience: "uftp", typ: "at+jwt" }));
  await library(authorizations);
  return {
    library,
    signature: await timeOf(texts, (text) => isSignedBy({ text, algorithm: alg }, key)),
    parsing: await timeOf(texts, readForeignToken),
  };
}

/** Cost of a verified token, compared with a cached token. */
export const accessTokens: Measurement = {
  name: "access-tokens",
  summary: "GET /rest/auth with a new access token of an issuer each time, compared with a known token",
  note:
    "The limit is the library: what another token costs the whole program beyond one that was seen before, against jose.jwtVerify of the same tokens with the same key in the same run. The rest of that cost is the claims (issuer, times, requirements, name and attributes) and the cache. jose verifies by Web Cryptography; RS256 and EdDSA are verified here by faster means.",
  async run() {
    const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
    await using provider = await startOidcProvider(
      authority.issue({ subject: "CN=idp", names: ["localhost"] }),
    );
    const signers = ALGORITHMS.map((alg) => createSigner(alg, alg));
    provider.keys.push(...signers.map(({ jwk }) => jwk));
    await using bench = await startBenchSite({
      authority,
      properties: {
        "container.security.rest.authentication.order": "OAUTH PASSWORD",
        ...authenticatorProperties("OAUTH", {
          issuer: provider.issuer,
          requiredAudience: "uftp",
          identityTemplate: "CN=%sub%",
          uidAssign: "sub",
        }),
      },
    });
    using client = Deno.createHttpClient({ caCerts: [authority.certificate] });
    /** Returns the processor time of a request in microseconds: of the program, and of its core. */
    const costOf = async (authorizations: readonly string[]): Promise<Cost> => {
      const before = bench.process.cpu();
      const waiting = authorizations.values();
      await Promise.all(Array.from({ length: AT_ONCE }, async () => {
        for (const Authorization of waiting) {
          const reply = await fetch(`${bench.url}/rest/auth`, { client, headers: { Authorization } });
          await reply.body?.cancel();
          if (reply.status !== 200) throw new Error(`a token was answered with ${reply.status}`);
        }
      }));
      const after = bench.process.cpu();
      const used = (thread: string) => ((after[thread] ?? 0) - (before[thread] ?? 0)) * 1000;
      return { all: used("total") / authorizations.length, core: used("worker-2") / authorizations.length };
    };
    const figures: Figure[] = [];
    for (const { alg, sign, jwk } of signers) {
      let made = 0;
      const tokens = (count: number) => {
        const exp = Math.floor(Date.now() / 1000) + 3600;
        const claims = { iss: provider.issuer, sub: "alice", aud: "uftp", scope: "openid", exp };
        return Array.from(
          { length: count },
          () => `Bearer ${sign({ ...claims, jti: String(made++) }, { typ: "at+jwt" })}`,
        );
      };
      const [seen = ""] = tokens(1);
      const again = Array.from({ length: REQUESTS }, () => seen);
      for (const warm of [again, again, tokens(REQUESTS)]) await costOf(warm);
      const parts = await partsOf(alg, jwk, tokens(REQUESTS));
      const rounds: { readonly known: Cost; readonly fresh: Cost; readonly library: number }[] = [];
      for (let i = 0; i < ROUNDS; i++) {
        const others = tokens(REQUESTS);
        const known = await costOf(again);
        const fresh = await costOf(others);
        rounds.push({ known, fresh, library: await parts.library(others) });
      }
      const of = (pick: (round: typeof rounds[number]) => number) => median(rounds.map(pick));
      figures.push(
        {
          what: `${alg}: verification of a new token, relative to jose.jwtVerify`,
          value: of(({ known, fresh, library }) => (fresh.all - known.all) / library),
          unit: "×",
          target: PROMISED,
        },
        { what: `${alg}: processor time of jose.jwtVerify`, value: of(({ library }) => library), unit: "µs" },
        { what: `${alg}: signature in the service`, value: parts.signature, unit: "µs" },
        { what: `${alg}: header and JSON in the service`, value: parts.parsing, unit: "µs" },
        {
          what: `${alg}: additional time of the core for a new token`,
          value: of(({ known, fresh }) => fresh.core - known.core),
          unit: "µs",
        },
        { what: `${alg}: processor time`, value: of(({ fresh }) => fresh.all), unit: "µs" },
        { what: `${alg}: processor time of a known token`, value: of(({ known }) => known.all), unit: "µs" },
      );
    }
    return figures;
  },
};
