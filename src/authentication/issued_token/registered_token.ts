import { familyWith, MAX_ANCESTORS, type TokenFamily } from "../../model/token_family.ts";
import type { TokenRestrictions } from "../../model/token_restrictions.ts";
import type { StoredRecord } from "../../store/record_store.ts";
import { isJsonObject } from "../../model/json_object.ts";
import { InvalidToken, type SignedToken, textClaim } from "../signed_token.ts";
import { restrictionsClaim, restrictionsFromClaim } from "./restrictions.ts";

/** Last day of use, and the first address on that day. */
export interface TokenUse {
  readonly day: string; // UTC, `2026-01-05`
  readonly address: string;
}

/** Registered token without owner and id; contains no secret. */
export interface RegisteredToken {
  readonly digest: string; // SHA-256 of its text in base64
  readonly made: number; // seconds since the epoch, as all times here
  readonly expires: number;
  readonly latest: number; // latest end of tokens derived from it
  readonly root: string;
  readonly line: readonly string[]; // ids of the ancestors; empty in old records
  /** See {@link TokenFamily}; milliseconds. */
  readonly since: number;
  readonly name?: string;
  readonly restrictions?: TokenRestrictions;
  readonly renewable: boolean;
  readonly limited: boolean; // for this service only
  readonly by?: string; // DN of the administrator who requested it
  readonly servers?: readonly string[]; // servers on which the owner had proved the account; absent: all
  readonly madeFrom?: string;
  readonly used?: TokenUse;
}

export interface PresentedToken {
  readonly dn: string;
  readonly token: RegisteredToken;
  readonly family: TokenFamily;
}

/** Reads the claims of an issued token; old ones without id are identified by digest. @throws {InvalidToken} */
export function presentedToken(token: SignedToken): PresentedToken {
  const { claims, digest, expires } = token;
  const family = familyOf(token);
  const number = (name: string, otherwise: number) => {
    const value = claims.get(name);
    return typeof value === "number" ? value : otherwise;
  };
  const text = (name: string) => claims.has(name) ? textClaim(token, name) : undefined;
  return {
    dn: textClaim(token, "sub"),
    family,
    token: {
      digest,
      made: number("iat", 0),
      expires,
      latest: Math.max(expires, number("renewableUntil", expires)),
      root: family.root,
      line: family.line.map(({ id }) => id),
      since: family.since,
      name: text("name"),
      restrictions: restrictionsFromClaim(claims.get("restrictions")),
      renewable: String(claims.get("renewable")) === "true",
      limited: claims.has("aud"),
      by: text("by"),
      servers: texts(claims.get("uidServers")),
    },
  };
}

/** Returns the claims of a token family, which {@link familyOf} reads. */
export function familyClaims({ id, since, root, line }: TokenFamily): Record<string, unknown> {
  return {
    jti: id,
    since,
    root: root === id ? undefined : root,
    line: line.length === 0 ? undefined : line.map(({ id, expires }) => [id, expires]),
  };
}

function familyOf(token: SignedToken): TokenFamily {
  const { claims, digest, expires } = token;
  const made = claims.get("iat");
  if (!claims.has("jti")) {
    const id = `sha256-${digest.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
    return familyWith(undefined, { id, expires }, typeof made === "number" ? made * 1000 : 0);
  }
  const id = textClaim(token, "jti");
  const since = claims.get("since");
  const root = claims.has("root") ? textClaim(token, "root") : id;
  const line: readonly unknown[] = claims.has("line") ? [claims.get("line")].flat(1) : [];
  const members = line.flatMap((member) => {
    const [id, expires, ...more]: readonly unknown[] = Array.isArray(member) ? member : [];
    return typeof id === "string" && typeof expires === "number" && more.length === 0
      ? [{ id, expires }]
      : [];
  });
  if (typeof since !== "number" || members.length < line.length || members.length > MAX_ANCESTORS) {
    throw new InvalidToken("its claims about the token family cannot be read");
  }
  return { id, expires, since, root, line: members };
}

/** Returns the record of a token. */
export function tokenRecord(
  { made, expires, restrictions, ...rest }: RegisteredToken,
  { id, owner }: { readonly id: string; readonly owner: string },
): StoredRecord {
  const content = { ...rest, restrictions: restrictionsClaim(restrictions) };
  return { key: id, owner, made: Math.floor(made), ends: Math.ceil(expires), content };
}

/** Parses a {@link tokenRecord}; `undefined` if invalid. */
export function tokenOf({ made, ends, content }: StoredRecord): RegisteredToken | undefined {
  if (!isJsonObject(content)) return undefined;
  const { digest, latest, root, since, name, restrictions, by, madeFrom, used } = content;
  if (
    typeof digest !== "string" || typeof root !== "string" || typeof latest !== "number" ||
    typeof since !== "number"
  ) return undefined;
  const { day, address } = isJsonObject(used) ? used : {};
  return {
    digest,
    made,
    expires: ends,
    latest,
    root,
    line: texts(content["line"]) ?? [],
    since,
    name: textOr(name),
    restrictions: restrictions === undefined ? undefined : restrictionsFromClaim(restrictions),
    renewable: content["renewable"] === true,
    limited: content["limited"] === true,
    by: textOr(by),
    servers: texts(content["servers"]),
    madeFrom: textOr(madeFrom),
    used: typeof day === "string" && typeof address === "string" ? { day, address } : undefined,
  };
}

function textOr(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function texts(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : undefined;
}
