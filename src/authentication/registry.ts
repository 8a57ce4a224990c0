import type { MethodConfig } from "../config/service_config.ts";
import type { Logger } from "../logging/logger.ts";
import type { Clock } from "../model/clock.ts";
import type { Authenticator } from "./authenticator.ts";
import { sshKey } from "./ssh_key/ssh_key.ts";
import type { KeySource } from "./ssh_key/server_keys.ts";
import { passwordFile } from "./password/password_file.ts";

/** What the methods are made with besides their configuration. */
export interface MethodParts {
  readonly log: Logger;
  readonly now: Clock;
  /** The logical servers, whose daemons know users' own keys. */
  readonly keySources: readonly KeySource[];
  /** The server's own name, from the certificate in use. */
  readonly serverName: () => string;
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
function createMethod(config: MethodConfig, parts: MethodParts): Promise<Authenticator> {
  switch (config.kind) {
    case "FilebasedAuthenticator":
      return passwordFile({ ...parts, name: config.name, file: config.file });
    case "SSHKeyAuthenticator":
      return sshKey({
        name: config.name,
        ...(config.file !== undefined && { file: config.file }),
        dnTemplate: config.dnTemplate,
        sources: config.useAuthorizedKeys ? parts.keySources : [],
        times: { updateMs: config.updateIntervalSeconds * 1000 },
        maxLifetime: config.maxTokenLifetimeSeconds,
        legacyToken: config.legacyToken,
        serverName: parts.serverName,
        clock: parts.now,
        log: parts.log,
      });
    default:
      return Promise.reject(new TypeError(`${config.name}: this service has no ${config.kind}`));
  }
}
