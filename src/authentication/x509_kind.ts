import { optional, seconds } from "../config/key.ts";
import { authenticatorKind } from "./authenticator_kind.ts";
import { DERIVED_S } from "../config/keys/authentication_keys.ts";

/** TLS client certificates, and names signed by a gateway (credentials.md 9). */
export const clientCertificate = authenticatorKind({
  title: "X509Authenticator: client certificates (X509)",
  keys: {
    derivedLifetime: optional(seconds({
      help:
        "Maximum lifetime of browser sessions and tokens from such a login; default 28800 behind a gateway, else the lifetime of the certificate",
      max: 30 * 86_400,
      added: true,
    })),
  },
  methods: { X509: "certificate" },
  usesCertificates: () => true,
  read: (values) => values,
  async create({ name, derivedLifetime }, { gateway, serverName, clock, clientTrust }) {
    const { x509 } = await import("./x509.ts");
    const lifetime = derivedLifetime ?? (gateway === undefined ? undefined : DERIVED_S);
    return x509({ name, gateway, serverName, clock, clientTrust, derivedLifetime: lifetime });
  },
});
