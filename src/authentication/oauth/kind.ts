import { authenticatorKind } from "../authenticator_kind.ts";
import { KEYS, read } from "./keys.ts";

/** OAuth bearer tokens (specification 5). */
export const oauth = authenticatorKind({
  title: "OAuthAuthenticator: OAuth tokens (OAUTH)",
  classes: { OAuthAuthenticator: { names: ["OAUTH"] } },
  keys: KEYS,
  read,
  remotes: (config) => [{
    address: config.address,
    shownAs: "OIDC Server",
    showCertificate: config.showCertificate,
    probe: async (parts) => (await import("./probe.ts")).probeProvider(config, parts),
  }],
  inspect: async ({ assignments }) => ({
    problems: (await import("../assignments.ts")).inspectAssignments(assignments),
  }),
  async create(config, { outgoing, now: clock, log }) {
    const { OAuth } = await import("./oauth.ts");
    return new OAuth(config, { http: outgoing(config.showCertificate), clock, log });
  },
});
