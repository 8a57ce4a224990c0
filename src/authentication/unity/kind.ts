import { probeWithoutCredentials } from "../../outgoing/probed_kind.ts";
import { authenticatorKind } from "../authenticator_kind.ts";
import { KEYS, read } from "./keys.ts";

/** Unity, by SAML (specification 5): the first class passes on user name and password, the second a bearer token. */
export const unity = authenticatorKind({
  title: "UnitySAMLAuthenticator (UNITY, UNITY-PASSWORD) and UnityOAuthAuthenticator (UNITY-OAUTH)",
  keys: KEYS,
  ignored: { identityAssign: "the assertion names the user" },
  read,
  methods: { "UNITY-SAML": "Unity" },
  remotes: ({ address, showCertificate }) => [{
    address,
    label: "Unity",
    showCertificate,
    probe: (parts) =>
      probeWithoutCredentials({ address, showCertificate }, parts, (status) => status !== 404),
  }],
  sentTokens: ({ kind }) => kind === "UnityOAuthAuthenticator" ? "all" : undefined,
  inspect: async ({ assignments }, around) => ({ diagnostics: await around.inspectExpressions(assignments) }),
  async create(config, { assertions, outgoing, serverName, ...parts }) {
    const { Unity } = await import("./unity.ts");
    const http = outgoing.http(config.showCertificate);
    return new Unity(config, { ...parts, ...assertions, serverDn: serverName() || undefined, http });
  },
});
