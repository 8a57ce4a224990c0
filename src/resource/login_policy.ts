import type { LogicalServerConfig } from "../config/service_config.ts";
import { userReference } from "../authentication/account_status.ts";
import { isFresh } from "../authentication/signed_token.ts";
import { addressInRange } from "../model/address.ts";
import type { Clock } from "../model/clock.ts";
import type { Identity } from "../model/identity.ts";
import { httpError } from "../model/http_error.ts";
import type { Call } from "./call.ts";
import type { LoginPolicy, ServerFacts } from "./server_facts.ts";

/** Requirements for a caller's login; all must hold. A token is judged by the login that obtained it. */
export type LoginRequirements = LogicalServerConfig["logins"];

/** Compiles the requirements; undefined if there are none. */
export function loginPolicy(required: LoginRequirements, clock: Clock): LoginPolicy | undefined {
  const { methods, requiredAcr, maxAuthAge = Infinity, networks } = required;
  const rules: [isRequired: boolean, words: string, isMet: (login: Identity) => boolean][] = [
    [
      methods.length > 0,
      `a login by ${oneOf(methods)}`,
      (login) => methods.includes(userReference(login).via ?? ""),
    ],
    [
      requiredAcr.length > 0,
      `a login with authentication context class (acr) ${oneOf(requiredAcr)}`,
      ({ acr = "" }) => requiredAcr.includes(acr),
    ],
    [
      maxAuthAge !== Infinity,
      `a login at most ${maxAuthAge} seconds old`,
      ({ authTime = 0 }) => authTime === "now" || isFresh(authTime, maxAuthAge, clock()),
    ],
  ];
  const inNetworks = "a client address in the networks of this server";
  const inForce = rules.filter(([isRequired]) => isRequired);
  if (inForce.length === 0 && networks.length === 0) return undefined;
  return {
    summary: [...inForce.map(([, words]) => words), ...networks.length > 0 ? [inNetworks] : []].join("; "),
    missing: (caller, addresses) => {
      const unmet = caller === undefined
        ? []
        : inForce.filter(([, , isMet]) => caller.kind === "anonymous" || !isMet(caller.identity));
      const isInside = networks.length === 0 ||
        addresses.every((address) => networks.some((range) => addressInRange(address, range)));
      const words = [...unmet.map(([, words]) => words), ...isInside ? [] : [inNetworks]];
      return words.length === 0 ? undefined : words.join("; ");
    },
  };
}

/** Checks a login against the server's policy, by default at the caller's address. @throws {ERR_STRONGER_LOGIN_NEEDED} */
export function checkLogin(
  { caller, clientAddress }: Partial<Pick<Call, "caller">> & Pick<Call, "clientAddress">,
  { logins }: Pick<ServerFacts, "logins">,
  { addresses = [clientAddress], unauthenticated }: {
    readonly addresses?: readonly string[];
    readonly unauthenticated?: (reason: string) => Error;
  } = {},
): void {
  const needed = logins?.missing(caller, addresses);
  if (needed === undefined) return;
  if (caller?.kind === "anonymous" && unauthenticated !== undefined) throw unauthenticated(needed);
  throw httpError("ERR_STRONGER_LOGIN_NEEDED", { needed });
}

function oneOf(names: readonly string[]): string {
  return names.join(" or ");
}
