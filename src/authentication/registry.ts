import type { MethodConfig } from "../config/service_config.ts";
import type { Logger } from "../logging/logger.ts";
import type { Clock } from "../model/clock.ts";
import type { OutgoingHttp } from "../outgoing/outgoing_http.ts";
import type { Authenticator } from "./authenticator.ts";
import { OAuth } from "./oauth/oauth.ts";
import { passwordFile } from "./password/password_file.ts";
import type { KeySource } from "./ssh_key/server_keys.ts";
import { sshKey } from "./ssh_key/ssh_key.ts";
import { unityOAuth } from "./unity/unity_oauth.ts";
import { unitySaml } from "./unity/unity_saml.ts";
import { x509 } from "./x509.ts";

/** What the methods are made with besides their configuration. */
export interface MethodParts {
  readonly log: Logger;
  readonly now: Clock;
  /** The logical servers, whose daemons know users' own keys. */
  readonly keySources: readonly KeySource[];
  /** The server's own name, from the certificate in use; empty without one. */
  readonly serverName: () => string;
  /** A client for other systems that shows the server's certificate, or one that does not. */
  readonly outgoing: (showCertificate: boolean) => OutgoingHttp;
  /** What assertions are held against. */
  readonly assertions: {
    /** The service's own URL, without trailing slash. */
    readonly url: string;
    readonly additionalIdentifiers: readonly string[];
    readonly issuers: () => readonly string[];
    readonly anchors: () => readonly string[];
  };
  /** Present if gateway support is on. */
  readonly gateway: { readonly certificate: () => string | undefined } | undefined;
}

/**
 * Makes the configured methods, in their order.
 * @throws What a method throws that cannot start; `AggregateError` if there are several. The others are closed again.
 */
export async function createMethods(
  configs: readonly MethodConfig[],
  parts: MethodParts,
): Promise<readonly Authenticator[]> {
  const made = await Promise.allSettled(configs.map((config) => createMethod(config, parts)));
  const failures = made.flatMap((result) => result.status === "rejected" ? [result.reason] : []);
  const methods = made.flatMap((result) => result.status === "fulfilled" ? [result.value] : []);
  if (failures.length === 0) return methods;
  methods.forEach((method) => method.close());
  throw failures.length === 1 ? failures[0] : new AggregateError(failures, "Several methods cannot start");
}

/** The one place that names every method: simple name of the class -> what makes it. */
async function createMethod(config: MethodConfig, parts: MethodParts): Promise<Authenticator> {
  const { log, now: clock, serverName } = parts;
  switch (config.kind) {
    case "FilebasedAuthenticator":
      return await passwordFile({ name: config.name, file: config.file, log });
    case "SSHKeyAuthenticator":
      return await sshKey({
        name: config.name,
        ...(config.file !== undefined && { file: config.file }),
        dnTemplate: config.dnTemplate,
        sources: config.useAuthorizedKeys ? parts.keySources : [],
        times: { updateMs: config.updateIntervalSeconds * 1000 },
        maxLifetime: config.maxTokenLifetimeSeconds,
        legacyToken: config.legacyToken,
        serverName,
        clock,
        log,
      });
    case "OAuthAuthenticator":
      return new OAuth(config, { http: parts.outgoing(config.showCertificate), clock, log });
    case "UnitySAMLAuthenticator":
    case "UnityOAuthAuthenticator": {
      const create = config.kind === "UnitySAMLAuthenticator" ? unitySaml : unityOAuth;
      const http = parts.outgoing(config.showCertificate);
      return create(config, { ...parts.assertions, serverDn: serverName() || undefined, http, clock, log });
    }
    case "X509Authenticator":
      return x509({
        name: config.name,
        ...(parts.gateway && { gateway: parts.gateway }),
        serverName,
        clock,
      });
  }
}
