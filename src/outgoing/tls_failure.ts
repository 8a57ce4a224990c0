interface TlsFailure {
  /** `name`: wrong host; `issuer`: untrusted; `authority`: a CA certificate, as self-signed ones often are. */
  readonly kind: "name" | "issuer" | "authority" | "other";
  readonly error: Error; // for the operator, with the platform's error as cause
}

/** Deno's TLS errors with readable texts. */
const FAILURES: readonly (readonly [RegExp, TlsFailure["kind"], string])[] = [
  [/not valid for name|NotValidForName/, "name", "the certificate of the server is for another host"],
  [
    /CaUsedAsEndEntity/,
    "authority",
    "the certificate of the server is self-signed, or an authority's (CA:TRUE)",
  ],
  [/UnknownIssuer/, "issuer", "no trusted authority signed the certificate of the server"],
  [/UnsupportedCertVersion/, "other", "the certificate of the server is not X.509 version 3"],
  [/BadEncoding/, "other", "the certificate of the server is not encoded by the book"],
  [/NotValidYet|not valid yet/, "other", "the certificate of the server is not valid yet"],
  [/[Ee]xpired/, "other", "the certificate of the server has expired"],
  [
    /InvalidPurpose|ExtendedKeyUsage|extended key usage/i,
    "other",
    "the certificate of the server is not for TLS servers",
  ],
  [
    /BadSignature|InvalidSignature/,
    "other",
    "the server does not have the key of its certificate, or it is forged",
  ],
  [/invalid peer certificate/, "other", "the certificate of the server is not trusted"],
];

/** Explains an error of opening a connection. */
export function describeTlsFailure(error: unknown): TlsFailure {
  const cause = error instanceof Error ? error : new Error(String(error));
  const row = FAILURES.find(([pattern]) => pattern.test(cause.message));
  if (row === undefined) return { kind: "other", error: cause };
  const [, kind, text] = row;
  return { kind, error: new Error(`${text} (${cause.message})`, { cause }) };
}
