import { integer, optional } from "../config/key.ts";
import { DERIVED_S } from "./provider_keys.ts";
import { authenticatorKind } from "./authenticator_kind.ts";

/** TLS client certificates, and names signed by a gateway (authentication.md 9). */
export const clientCertificate = authenticatorKind({
  title: "X509Authenticator: client certificates (X509)",
  classes: { X509Authenticator: { names: ["X509"] } },
  keys: {
    derivedLifetime: optional(integer({
      help:
        "How long browser sessions and tokens got by such a login may last; default 28800 behind a gateway, else as the certificate",
      unit: "seconds",
      max: 30 * 86_400,
      added: true,
    })),
  },
  looksAtCertificates: () => true,
  read: (values) => values,
  async create({ name, derivedLifetime }, { gateway, serverName, clock, revocation }) {
    const { x509 } = await import("./x509.ts");
    const lifetime = derivedLifetime ?? (gateway === undefined ? undefined : DERIVED_S);
    return x509({ name, gateway, serverName, clock, revocation, derivedLifetime: lifetime });
  },
});
