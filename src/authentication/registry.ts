import type { KindConfig } from "../config/service_config.ts";
import { type KindList, kindOf } from "../config/kind.ts";
import type { Authenticator } from "./authenticator.ts";
import type { AuthenticatorKind, AuthenticatorParts } from "./authenticator_kind.ts";

/** Creates the configured authenticators. @throws The start error, or `AggregateError`; the others are closed. */
export async function createAuthenticators(
  configs: readonly KindConfig[],
  list: KindList<AuthenticatorKind>,
  parts: AuthenticatorParts,
): Promise<readonly Authenticator[]> {
  const made = await Promise.allSettled(
    configs.map(async (config) => await (await kindOf(config, list)).create(config, parts)),
  );
  const failures = made.flatMap((result) => result.status === "rejected" ? [result.reason] : []);
  const authenticators = made.flatMap((result) => result.status === "fulfilled" ? [result.value] : []);
  if (failures.length === 0) return authenticators;
  authenticators.forEach((authenticator) => authenticator.close());
  throw failures.length === 1 ? failures[0] : new AggregateError(failures, "several methods cannot start");
}
