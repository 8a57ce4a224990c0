import { flag, ignored, items, oneOf, optional, path, seconds, secretText, section, text } from "../key.ts";

/** Own certificate and key (specification 1; rest-api.md 3.5). */
export const CREDENTIAL = section({
  prefix: "container.security.credential.",
  title: "Certificate and key of the service",
  keys: {
    path: path({ help: "Key store (PKCS#12) or certificate (PEM, DER)" }),
    format: optional(oneOf(["pem", "pkcs12", "der", "jks"], {
      help: "Format of the file. If not set, the service detects it. JKS must be converted",
    })),
    password: optional(
      secretText({ help: "Password of the key store, or of the private key in PEM or DER form" }),
    ),
    keyPath: optional(path({ help: "Private key, if it is in a separate file" })),
    keyPassword: optional(
      secretText({ help: "Password of the key in the key store; must equal the password of the store" }),
    ),
    keyAlias: optional(
      text({ help: "Name of the key in the key store; only stores with one key are supported" }),
    ),
    reloadOnChange: flag({ help: "Reload a renewed certificate automatically", default: true }),
  },
});

const TRUST_KEYS = {
  type: optional(oneOf(["keystore", "directory", "openssl", "java_default"], {
    help: "Type of the truststore. If not set, the service detects it. java_default is not supported",
  })),
  updateInterval: seconds({
    help: "Interval between checks for new certificates; negative disables the checks",
    default: 600,
    min: -1_000_000,
  }),
  directoryLocations: items(path({ help: "Certificate file, or a pattern such as conf/ca/*.pem" })),
  directoryEncoding: oneOf(["PEM", "DER"], { help: "Encoding of these files", default: "PEM" }),
  keystorePath: optional(path({ help: "Key store (PKCS#12) with trusted certificates" })),
  keystorePassword: optional(secretText({ help: "Password of the key store" })),
  keystoreFormat: optional(
    oneOf(["pkcs12", "jks"], {
      help: "Format of the key store. If not set, the service detects it. JKS must be converted",
    }),
  ),
  opensslPath: path({
    help: "Folder with certificates named by hash, such as 1a2b3c4d.0",
    default: "/etc/grid-security/certificates",
  }),
  opensslNsMode: text({
    help:
      "The service evaluates no name spaces: IGNORE accepts a folder with files of them (*.signing_policy, *.namespaces)",
    default: "EUGRIDPMA_GLOBUS",
  }),
  crlMode: oneOf(["IF_VALID", "REQUIRE", "IGNORE"], {
    help:
      "Check certificates of clients and daemons against revocation lists: if a valid list exists, always, or never",
    default: "IF_VALID",
  }),
  crlLocations: items(
    text({ help: "File with revocation lists (PEM or DER), or a pattern such as conf/crl/*.pem" }),
  ),
  ocspMode: oneOf(["IF_AVAILABLE", "REQUIRE", "IGNORE"], {
    help: "The service does not support OCSP and rejects REQUIRE",
    default: "IF_AVAILABLE",
  }),
  allowProxy: oneOf(["ALLOW", "DENY"], {
    help: "The service never accepts proxy certificates",
    default: "DENY",
  }),
};

const TRUST_IGNORED = {
  ...ignored("certificates are read from files only", "directoryConnectionTimeout directoryDiskCachePath"),
  opensslNewStoreFormat: "both forms of the folder are read",
  crlUpdateInterval: "see updateInterval",
  ...ignored("revocation lists are read from files only", "crlConnectionTimeout crlDiskCachePath"),
  "ocsp*": "the service does not support OCSP",
  "revocation*": "the service checks revocation lists only",
};

function truststore(prefix: string, title: string) {
  return section({ prefix, title, keys: TRUST_KEYS, ignored: TRUST_IGNORED });
}

/** Trusted certificates (specification 1; rest-api.md 3.5), and those for one purpose. */
export const TRUSTSTORE = truststore("container.security.truststore.", "Trusted certificates (default)");
export const CLIENT_TRUSTSTORE = truststore(
  "container.security.clientTruststore.",
  "Trusted certificates of clients",
);
export const PROVIDER_TRUSTSTORE = truststore(
  "container.security.providerTruststore.",
  "Trusted certificates of identity providers",
);
export const SERVER_TRUSTSTORE = truststore(
  "authservice.server.<server>.truststore.",
  "Trusted certificates of the daemons of a server",
);
/** Certificates of SAML issuers (credentials.md 5.4). */
export const TRUSTED_ASSERTION_ISSUERS = truststore(
  "container.security.trustedAssertionIssuers.",
  "Trusted SAML issuers",
);
