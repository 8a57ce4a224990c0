import { namedUser } from "../authentication/account_status.ts";
import { addressInRange } from "../model/address.ts";
import type { Clock } from "../model/clock.ts";
import type { Identity } from "../model/identity.ts";
import { httpError } from "../model/http_error.ts";
import type { Call } from "./call.ts";
import type { LoginPolicy, ServerFacts } from "./server_facts.ts";

/** How callers must have logged in to use a server; all of it holds. Empty lists require nothing. */
export interface LoginRequirements {
  /** Names of methods; a token counts as the login that it was got with. */
  readonly methods: readonly string[];
  /** The login's `acr` (OIDC Core 1.0, 2) must be one of them. */
  readonly requiredAcr: readonly string[];
  /** Most seconds since the login. */
  readonly maxAuthAge: number | undefined;
  /** Addresses and ranges that clients must come from. */
  readonly networks: readonly string[];
}

/** By how many seconds a provider's clock may be ahead. */
const CLOCK_TOLERANCE = 60;

/** @returns Undefined if every login will do. */
export function loginPolicy(required: LoginRequirements, clock: Clock): LoginPolicy | undefined {
  const { methods, requiredAcr, maxAuthAge, networks } = required;
  const rules: [isRequired: boolean, words: string, isMet: (login: Identity) => boolean][] = [
    [methods.length > 0, `a login by ${oneOf(methods)}`, (login) => methods.includes(methodOf(login))],
    [
      requiredAcr.length > 0,
      `a login of class (acr) ${oneOf(requiredAcr)}`,
      ({ acr = "" }) => requiredAcr.includes(acr),
    ],
    [
      maxAuthAge !== undefined,
      `a login in the last ${maxAuthAge} seconds`,
      ({ authTime }) => isFresh(authTime, { maxAuthAge, now: clock() / 1000 }),
    ],
  ];
  const inNetworks = "a client in the networks of this server";
  const inForce = rules.filter(([isRequired]) => isRequired);
  if (inForce.length === 0 && networks.length === 0) return undefined;
  return {
    inWords: [...inForce.map(([, words]) => words), ...networks.length > 0 ? [inNetworks] : []].join("; "),
    missing: (caller, addresses) => {
      const unmet = inForce.filter(([, , isMet]) => caller.kind === "anonymous" || !isMet(caller.identity));
      const isInside = networks.length === 0 ||
        addresses.every((address) => networks.some((range) => addressInRange(address, range)));
      const words = [...unmet.map(([, words]) => words), ...isInside ? [] : [inNetworks]];
      return words.length === 0 ? undefined : words.join("; ");
    },
  };
}

/**
 * @param options.addresses From which the server is to be used; by default the caller's.
 * @param options.unauthenticated The error for callers without a login, where such come.
 * @throws {ERR_STRONGER_LOGIN_NEEDED} If the login is not good enough for a server.
 */
export function checkLogin(
  { caller, clientAddress }: Pick<Call, "caller" | "clientAddress">,
  { logins }: Pick<ServerFacts, "logins">,
  { addresses = [clientAddress], unauthenticated }: {
    readonly addresses?: readonly string[];
    readonly unauthenticated?: (reason: string) => Error;
  } = {},
): void {
  const needed = logins?.missing(caller, addresses);
  if (needed === undefined) return;
  if (caller.kind === "anonymous" && unauthenticated !== undefined) throw unauthenticated(needed);
  throw httpError("ERR_STRONGER_LOGIN_NEEDED", { needed });
}

/** Of a token that a service issued the method that named its user to it; none if that is not known. */
function methodOf(identity: Identity): string {
  return namedUser(identity).via ?? "";
}

function isFresh(
  authTime: Identity["authTime"],
  { maxAuthAge = Infinity, now }: { readonly maxAuthAge: number | undefined; readonly now: number },
): boolean {
  if (authTime === undefined || authTime === "now") return authTime === "now";
  return now - authTime <= maxAuthAge && now - authTime >= -CLOCK_TOLERANCE;
}

function oneOf(names: readonly string[]): string {
  return names.join(" or ");
}
