import type { ProbedRemote } from "../../outgoing/probed_kind.ts";
import { authenticatorKind } from "../authenticator_kind.ts";
import { KEYS, type OAuthConfig, read } from "./oauth_config.ts";

/** OAuth bearer tokens (specification 5). */
export const oauth = authenticatorKind({
  title: "OAuthAuthenticator: OAuth tokens (OAUTH)",
  keys: KEYS,
  read,
  methods: { OAUTH: "an identity provider" },
  remotes,
  usesCertificates: ({ certificateBound }) => certificateBound,
  providesAcr: true,
  sentTokens: ({ issuer, opaqueTokens }) => issuer === undefined ? "all" : opaqueTokens ? "opaque" : "own",
  inspect: async ({ assignments }, around) => ({ diagnostics: await around.inspectExpressions(assignments) }),
  async create(config, { outgoing, ...parts }) {
    const { OAuth } = await import("./oauth.ts");
    const method = new OAuth(config, { ...parts, http: outgoing.http(config.showCertificate) });
    await method.warmUp();
    return method;
  },
});

/** Returns the issuer and the configured endpoints, the only hosts contacted. */
function remotes(config: OAuthConfig): readonly ProbedRemote[] {
  const { issuer, jwksUri, address, showCertificate } = config;
  const probes = () => import("./probe.ts");
  const remote = (address: string | undefined, probe: ProbedRemote["probe"]) =>
    address === undefined ? [] : [{ address, label: "OIDC Server", showCertificate, probe }];
  return [
    ...remote(issuer, async (parts) => (await probes()).probeIssuer(config, parts)),
    ...remote(jwksUri, async (parts) => (await probes()).probeKeys(config, parts)),
    ...remote(address, async (parts) => (await probes()).probeEndpoint(config, address ?? "", parts)),
  ];
}
