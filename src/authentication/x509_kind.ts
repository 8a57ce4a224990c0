import { authenticatorKind } from "./authenticator_kind.ts";

/** TLS client certificates, and names signed by a gateway (authentication.md 9). */
export const clientCertificate = authenticatorKind({
  title: "X509Authenticator: client certificates (X509)",
  classes: { X509Authenticator: { names: ["X509"] } },
  keys: {},
  looksAtCertificates: () => true,
  read: (values) => values,
  async create({ name }, { gateway, serverName, clock }) {
    const { x509 } = await import("./x509.ts");
    return x509({ name, gateway, serverName, clock });
  },
});
