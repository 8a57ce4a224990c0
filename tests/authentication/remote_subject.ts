import type { AssignmentsConfig, ExpressionConfig } from "../../src/config/read_assignments.ts";
import type { OutgoingConfig } from "../../src/config/service_config.ts";
import type { Authenticator } from "../../src/authentication/authenticator.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { HttpsClient } from "../../src/outgoing/https_client.ts";
import { createAuthority } from "../pki/authority.ts";

/** Authority that both the identity providers of the tests and the service trust. */
export const AUTHORITY = createAuthority({ subject: "CN=Test CA,O=Site-A,C=DE" });
/** Certificate and key of the identity providers for TLS. */
export const PROVIDER_TLS = AUTHORITY.issue({ subject: "CN=idp", names: ["localhost"] });

const OUTGOING: OutgoingConfig = {
  publicRoots: false,
  showCertificate: false,
  hostnameChecking: "FAIL",
  connectTimeoutMs: 5_000,
  timeoutMs: 10_000,
  maxConnectionsPerHost: 6,
  maxConnections: 20,
  idleTimeoutMs: 30_000,
};

/** Returns an HTTPS client as in the service. */
export function httpsClient(config: Partial<OutgoingConfig> = {}): HttpsClient {
  return new HttpsClient({ ...OUTGOING, ...config }, { anchors: [AUTHORITY.certificate] }, SILENT);
}

type ExpressionName = Exclude<keyof AssignmentsConfig, "others">;

/** Returns assignment expressions as from the configuration. */
export function assignments(texts: Partial<Record<ExpressionName, string>>): AssignmentsConfig {
  const expression = (name: ExpressionName): ExpressionConfig | undefined => {
    const text = texts[name];
    return text === undefined
      ? undefined
      : { text, origin: { file: "container.properties", line: 7, key: `P.${name}Assign` } };
  };
  return {
    identity: expression("identity"),
    uid: expression("uid"),
    role: expression("role"),
    groups: expression("groups"),
    displayName: expression("displayName"),
  };
}

/** Returns an authenticator whose `close()` also closes the other parts of its test. */
export function alsoClosing(subject: Authenticator, close: () => void): Authenticator {
  return {
    name: subject.name,
    challenges: subject.challenges,
    ...(subject.issuer && { issuer: subject.issuer }),
    authenticate: (credentials, signal) => subject.authenticate(credentials, signal),
    close() {
      subject.close();
      close();
    },
  };
}
