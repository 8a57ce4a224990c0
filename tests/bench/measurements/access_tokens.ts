import { createSigner, type SigningAlgorithm } from "../../identity_provider/token_issuer.ts";
import { startOidcProvider } from "../../identity_provider/oidc_provider.ts";
import { createAuthority } from "../../pki/authority.ts";
import { authenticatorProperties } from "../../system/every_method.ts";
import { startBenchSite } from "../bench_site.ts";
import { type Figure, type Measurement, median } from "../figure.ts";

const PROMISED = { atLeast: 0.6 };
/** Algorithms, and what is promised of the rate of each. */
const ALGORITHMS: ReadonlyMap<SigningAlgorithm, Figure["target"]> = new Map([
  ["EdDSA", PROMISED],
  ["RS256", PROMISED],
  ["ES256", undefined],
]);
/** Rounds of each sort of token; they alternate, so that a disturbance meets both. */
const ROUNDS = 9;
/** Requests of a round. Signing takes longer than verifying, so these are few. */
const REQUESTS = 1_000;
/** Requests at once. */
const AT_ONCE = 32;

interface Cost {
  readonly all: number;
  readonly core: number;
}

/** What a token costs that is verified, of what one costs that is remembered. */
export const accessTokens: Measurement = {
  name: "access-tokens",
  summary:
    "GET /rest/auth with another access token of an issuer each time, against one that was seen before",
  note:
    "Nothing is promised of ES256, where the signature is nearly all that a new token costs: of the ways that the runtime has to verify one by a key on P-256, Web Cryptography is the fastest and takes 420 to 500 µs, node:crypto 750 to 850. One of EdDSA takes 45 µs, one of RS256 50 µs.",
  async run() {
    const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
    await using provider = await startOidcProvider(
      authority.issue({ subject: "CN=idp", names: ["localhost"] }),
    );
    const signers = [...ALGORITHMS.keys()].map((alg) => createSigner(alg, alg));
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
    /** Processor time of a request in microseconds: of the whole program, and of its core alone. */
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
    for (const { alg, sign } of signers) {
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
      const rounds: { readonly known: Cost; readonly fresh: Cost }[] = [];
      for (let i = 0; i < ROUNDS; i++) {
        rounds.push({ known: await costOf(again), fresh: await costOf(tokens(REQUESTS)) });
      }
      const of = (pick: (round: typeof rounds[number]) => number) => median(rounds.map(pick));
      const rate = of(({ known, fresh }) => known.all / fresh.all);
      figures.push(
        {
          what: `${alg}: rate by processor time, of one seen before`,
          value: rate,
          unit: "×",
          target: ALGORITHMS.get(alg),
        },
        {
          what: `${alg}: the same of the core`,
          value: of(({ known, fresh }) => known.core / fresh.core),
          unit: "×",
        },
        { what: `${alg}: processor time`, value: of(({ fresh }) => fresh.all), unit: "µs" },
        { what: `${alg}: processor time, seen before`, value: of(({ known }) => known.all), unit: "µs" },
      );
    }
    return figures;
  },
};
