import type { Authenticator } from "./authenticator.ts";

export interface AcceptedLogin {
  readonly words: string;
  readonly option?: string; // of `pyuftp`; absent: it does not support this login
}

const BY_TOKEN = "-A TOKEN";

/** Returns the logins that the configuration permits, in its order; the same for all callers. */
export function acceptedLogins(
  { authenticators, issuedTokens }: {
    readonly authenticators: readonly Authenticator[];
    readonly issuedTokens?: Authenticator;
  },
): readonly AcceptedLogin[] {
  const all = authenticators.flatMap((authenticator): AcceptedLogin[] => {
    const { challenges, acceptsSshKeys, issuer, acceptsCertificates } = authenticator;
    if (acceptsSshKeys) return [{ words: "an SSH key", option: "-u USER -i ~/.ssh/id_ed25519" }];
    if (acceptsCertificates) return [{ words: "a client certificate" }];
    if (issuer !== undefined) return [{ words: `an access token of ${issuer.url}`, option: "-O ACCOUNT" }];
    return challenges.includes("Basic")
      ? [{ words: "a user name with password", option: "-u USER -P" }]
      : [{ words: "an access token", option: BY_TOKEN }];
  });
  const own = issuedTokens === undefined ? [] : [{ words: "a token of this service", option: BY_TOKEN }];
  return [...new Map([...all, ...own].map((login) => [login.words, login])).values()];
}
