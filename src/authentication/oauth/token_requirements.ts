import { attempt } from "../../model/attempt.ts";
import type { StepUp, TokenCheck } from "../authenticator.ts";
import { type Claims, textsOf } from "../claims.ts";
import { isFresh } from "../signed_token.ts";
import { absolutePath } from "../../model/absolute_path.ts";
import type { Capability } from "../../model/identity.ts";
import { HttpError } from "../../model/http_error.ts";
import type { OAuthConfig } from "./oauth_config.ts";

type TokenRequirements = Pick<
  OAuthConfig,
  "requiredAudience" | "requiredClient" | "requiredScope" | "requiredAcr" | "maxAuthAge" | "emailVerified"
>;

/** Requirement that a token does not meet. */
export interface Unmet {
  readonly reason: string; // for the log
  readonly advice?: "audience" | "client" | "scope"; // for the client
  readonly stepUp?: StepUp; // present if another login would meet it
}

/** Returns the first unmet requirement. @param claim Verified claims: the provider's, then the token's. */
export function unmetRequirement(required: TokenRequirements, claim: Claims, now: number): Unmet | undefined {
  return unmetIdentity(required, claim) ?? weakLogin(required, claim, now);
}

/** Returns each configured requirement, checked separately. */
export function requirementChecks(
  required: TokenRequirements,
  claim: Claims,
  now: number,
): readonly TokenCheck[] {
  return CLAIMS.flatMap(([what, ...claims]) => {
    const wanted = required[what];
    const expected = [wanted].flat().join(" ");
    if (wanted === undefined || wanted === false || expected === "") return [];
    const ok = unmetRequirement({ ...NONE, [what]: wanted }, claim, now) === undefined;
    return [{ what, found: claims.flatMap((name) => textsOf(claim(name))).join(" "), expected, ok }];
  });
}

/** Claims that each requirement reads. */
const CLAIMS: readonly (readonly [keyof TokenRequirements, ...claims: string[]])[] = [
  ["requiredAudience", "aud"],
  ["requiredClient", "client_id", "azp", "appid"],
  ["requiredScope", "scope", "scp"],
  ["emailVerified", "email_verified"],
  ["requiredAcr", "acr"],
  ["maxAuthAge", "auth_time"],
];

const NONE: TokenRequirements = {
  requiredAudience: [],
  requiredClient: [],
  requiredScope: [],
  requiredAcr: [],
  maxAuthAge: undefined,
  emailVerified: false,
};

function unmetIdentity(required: TokenRequirements, claim: Claims): Unmet | undefined {
  const { requiredAudience, requiredClient, requiredScope } = required;
  const audiences = textsOf(claim("aud"));
  if (requiredAudience.length > 0 && audiences.length === 0) {
    return { reason: lacksClaim("requiredAudience", "aud"), advice: "audience" };
  }
  if (requiredAudience.length > 0 && !audiences.some((audience) => requiredAudience.includes(audience))) {
    return { reason: "the token is not for the required audience", advice: "audience" };
  }
  if (requiredClient.length > 0) {
    // Each client that is present must be listed (RFC 7662; RFC 9068).
    const clients = ["client_id", "azp", "appid"].flatMap((name) => textsOf(claim(name)));
    if (clients.length === 0) {
      return { reason: lacksClaim("requiredClient", "client_id, azp"), advice: "client" };
    }
    if (!clients.every((client) => requiredClient.includes(client))) {
      return { reason: "the token was not made for the required client", advice: "client" };
    }
  }
  if (requiredScope.length > 0 && !new Set(requiredScope).isSubsetOf(new Set(scopesOf(claim)))) {
    return { reason: "the token has not the required scope", advice: "scope" };
  }
  if (required.emailVerified && claim("email_verified") !== "true") {
    return { reason: "the e-mail address is not verified (email_verified)" };
  }
  return undefined;
}

/** Returns the reason for a token without audience or client, as from userinfo endpoints. */
function lacksClaim(key: string, claims: string): string {
  return `the token lacks a claim for ${key} (${claims}): userinfo endpoints seldom return it, ` +
    "introspection does (validate=true)";
}

/** Returns the values of `scope` (RFC 9068, 2.2.3) and `scp`, texts or lists. */
function scopesOf(claim: Claims): readonly string[] {
  return ["scope", "scp"].flatMap((name) => textsOf(claim(name))).flatMap((words) => words.split(" "))
    .filter((word) => word !== "");
}

/** Checks class and age of the login (RFC 9470, 3 and 6.2). */
function weakLogin({ requiredAcr, maxAuthAge }: TokenRequirements, claim: Claims, now: number) {
  const stepUp: StepUp = { acrValues: requiredAcr.length > 0 ? requiredAcr : undefined, maxAge: maxAuthAge };
  const [acr = "", other] = textsOf(claim("acr"));
  if (requiredAcr.length > 0 && (other !== undefined || !requiredAcr.includes(acr))) {
    return { reason: "the user has not logged in by the required class (acr)", stepUp };
  }
  if (maxAuthAge === undefined) return undefined;
  return isFresh(secondsOf(claim("auth_time")), maxAuthAge, now)
    ? undefined
    : { reason: "the login is too long ago, or not known when (auth_time)", stepUp };
}

/** Parses a time; 0 if malformed. */
export function secondsOf(claim: unknown): number {
  return typeof claim === "string" && /^[0-9]{1,15}(?:\.[0-9]{1,9})?$/.test(claim) ? Number(claim) : 0;
}

/** Activities by scope: WLCG Common JWT Profiles 1.2, SciTokens. */
const ACTIVITIES: ReadonlyMap<string, "read" | "modify"> = new Map([
  ["storage.read", "read"],
  ["storage.stage", "read"],
  ["storage.modify", "modify"],
  ["read", "read"],
  ["write", "modify"],
]);

const MOST = 100; // scopes considered

/**
 * Returns session permissions from scopes such as `storage.read:/path` below `base`. Daemons know only read
 * and full access, so lesser rights (create only, write without read) grant nothing.
 */
export function readCapabilities(claim: Claims, base: string): readonly Capability[] {
  const given = scopesOf(claim).slice(0, MOST).flatMap((scope) => {
    const colon = scope.indexOf(":");
    const activity = ACTIVITIES.get(scope.slice(0, colon));
    const path = colon < 0 ? undefined : readPath(scope.slice(colon + 1), base);
    return activity === undefined || path === undefined ? [] : [{ activity, path }];
  });
  const paths = (wanted: "read" | "modify") =>
    given.filter(({ activity }) => activity === wanted).map(({ path }) => path);
  const [readable, modifiable] = [paths("read"), paths("modify")];
  const within = (path: string, others: readonly string[]) => others.some((other) => path.startsWith(other));
  const all = [
    ...readable.map((path) => ({
      path,
      access: within(path, modifiable) ? "all" as const : "read" as const,
    })),
    ...modifiable.filter((path) => within(path, readable)).map((path) => ({ path, access: "all" as const })),
  ];
  return [...new Map(all.map((each) => [`${each.access} ${each.path}`, each])).values()];
}

/** Returns a scope's directory with trailing slash; `undefined` if not normalised or with pattern characters. */
function readPath(text: string, base: string): string | undefined {
  if (!text.startsWith("/") || /[*?[\]:%]/.test(text)) return undefined;
  const path = text.endsWith("/") ? text : `${text}/`;
  return attempt(() => absolutePath(path) === path ? base + path : undefined, HttpError, () => undefined);
}
