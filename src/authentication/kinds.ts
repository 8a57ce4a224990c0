import type { KindList } from "../config/kind.ts";
import type { AuthenticatorKind } from "./authenticator_kind.ts";
import { oauth } from "./oauth/kind.ts";
import { passwordFile } from "./password/kind.ts";
import { sshKey } from "./ssh_key/kind.ts";
import { unity } from "./unity/kind.ts";
import { clientCertificate } from "./x509_kind.ts";

/** All kinds of authenticators, in the order of the manual. */
export const AUTHENTICATORS: KindList<AuthenticatorKind> = {
  sort: "method",
  kinds: [passwordFile, sshKey, oauth, unity, clientCertificate],
  refused: {
    PAMAuthenticator: {
      names: ["PAM"],
      expected:
        "PAM is not supported, expected a password file (FilebasedAuthenticator) or an identity provider",
    },
  },
};
