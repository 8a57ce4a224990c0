import { createSigner, type SigningAlgorithm } from "../../identity_provider/token_issuer.ts";
import { startOidcProvider } from "../../identity_provider/oidc_provider.ts";
import { createAuthority } from "../../pki/authority.ts";
import { methodProperties } from "../../system/every_method.ts";
import { startBenchSite } from "../bench_site.ts";
import { type Figure, type Measurement, median } from "../figure.ts";
import { runWrk } from "../wrk.ts";

const ALGORITHMS: readonly SigningAlgorithm[] = ["RS256", "ES256", "EdDSA"];
/** Rounds of each sort of token; they alternate, so that a disturbance meets both. */
const ROUNDS = 3;
const SECONDS = 1;
/** Tokens that nobody has seen, for a round. */
const FRESH = 6_000;
const CONNECTIONS = 64;

/** What a token costs that is verified, of what one costs that is remembered. */
export const accessTokens: Measurement = {
  name: "access-tokens",
  summary:
    "GET /rest/auth with another access token of an issuer each time, against one that was seen before",
  note:
    "Signatures are verified in threads of the runtime: where cores are free for these, the rate is higher than processor time says.",
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
        ...methodProperties("OAUTH", {
          issuer: provider.issuer,
          requiredAudience: "uftp",
          identityTemplate: "CN=%sub%",
          uidAssign: "sub",
        }),
      },
    });
    const load = async (authorizations: readonly string[]) => {
      const before = bench.process.cpu().total ?? 0;
      const { requests, rate, failures } = await runWrk({
        authorizations,
        connections: CONNECTIONS,
        seconds: SECONDS,
        url: `${bench.url}/rest/auth`,
      });
      if (failures > 0) throw new Error(`${failures} of ${requests} requests failed`);
      if (authorizations.length > 1 && requests > FRESH) throw new Error("some tokens came twice, make more");
      return { rate, cpu: ((bench.process.cpu().total ?? 0) - before) * 1000 / requests };
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
      const seen = tokens(1);
      for (let i = 0; i < 2; i++) await load(seen);
      await load(tokens(FRESH));
      const rounds: { readonly rate: number; readonly cpu: number; readonly own: number }[] = [];
      for (let i = 0; i < ROUNDS; i++) {
        const [known, fresh] = [await load(seen), await load(tokens(FRESH))];
        rounds.push({ rate: fresh.rate / known.rate, cpu: known.cpu / fresh.cpu, own: fresh.cpu });
      }
      const of = (pick: (round: typeof rounds[number]) => number) => median(rounds.map(pick));
      figures.push(
        {
          what: `${alg}: rate, of that of one seen before`,
          value: of(({ rate }) => rate),
          unit: "×",
          target: { atLeast: 0.6 },
        },
        { what: `${alg}: by processor time`, value: of(({ cpu }) => cpu), unit: "×" },
        { what: `${alg}: processor time`, value: of(({ own }) => own), unit: "µs" },
      );
    }
    return figures;
  },
};
