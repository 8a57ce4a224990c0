import type { KindList } from "../config/kind.ts";
import type { AuthenticatorKind } from "./authenticator_kind.ts";

/** All kinds of authenticators, in the order of the manual. */
export const AUTHENTICATORS: KindList<AuthenticatorKind> = {
  sort: "method",
  kinds: [
    {
      classes: { FilebasedAuthenticator: { names: ["PASSWORD", "FILE"] } },
      load: async () => (await import("./password/kind.ts")).passwordFile,
    },
    {
      classes: { SSHKeyAuthenticator: { names: ["SSHKEY"] } },
      load: async () => (await import("./ssh_key/kind.ts")).sshKey,
    },
    {
      classes: { OAuthAuthenticator: { names: ["OAUTH"] } },
      load: async () => (await import("./oauth/kind.ts")).oauth,
    },
    {
      classes: {
        UnitySAMLAuthenticator: { names: ["UNITY", "UNITY-PASSWORD"] },
        UnityOAuthAuthenticator: { names: ["UNITY-OAUTH"] },
      },
      load: async () => (await import("./unity/kind.ts")).unity,
    },
    {
      classes: { LDAPAuthenticator: { names: ["LDAP"] } },
      load: async () => (await import("./ldap/kind.ts")).ldap,
    },
    {
      classes: { X509Authenticator: { names: ["X509"] } },
      load: async () => (await import("./x509_kind.ts")).clientCertificate,
    },
  ],
  refused: {
    PAMAuthenticator: {
      names: ["PAM"],
      expected:
        "PAM is not supported, expected a password file (FilebasedAuthenticator) or an identity provider",
    },
  },
};
