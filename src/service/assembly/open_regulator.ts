import type { Authenticator } from "../../authentication/authenticator.ts";
import type { ServiceConfig } from "../../config/service_config.ts";
import type { Logger } from "../../logging/logger.ts";
import { type Clock, steadyClock } from "../../model/clock.ts";
import type { RegulationNews } from "../../regulation/regulation_state.ts";
import { Regulator } from "../../regulation/regulator.ts";
import { claimedName } from "../claimed_name.ts";
import type { Together } from "./open_together.ts";

/** Who watches over failed logins, with what all instances know of them. */
export async function openRegulator(
  { regulation }: ServiceConfig,
  methods: readonly Authenticator[],
  { log, clock, learned, together }: {
    readonly log: Logger;
    readonly clock: Clock;
    /** Told of what is learned of failed logins. */
    readonly learned?: (news: RegulationNews) => void;
    readonly together: Together | undefined;
  },
): Promise<Regulator> {
  const regulator = new Regulator({
    config: regulation,
    log,
    shown: (name) => claimedName(name, methods),
    steady: steadyClock,
    clock,
    issuers: silentIssuers(methods),
    learned,
    others: together?.regulation,
    sharers: together?.sharers,
  });
  await together?.follow(regulator.memory);
  return regulator;
}

/** Issuers whom no method asks about their tokens. */
function silentIssuers(methods: readonly Authenticator[]): ReadonlySet<string> {
  const issuers = methods.flatMap(({ issuer }) => issuer ?? []);
  const asked = new Set(issuers.filter(({ asked }) => asked).map(({ url }) => url));
  return new Set(issuers.map(({ url }) => url).filter((url) => !asked.has(url)));
}
