import { familyWith, LONGEST_LINE, type TokenFamily } from "../../model/token_family.ts";
import type { TokenRestrictions } from "../../model/token_restrictions.ts";
import type { KeptRecord } from "../../store/record_store.ts";
import { isJsonObject } from "../json_object.ts";
import { InvalidToken, type SignedToken, textClaim } from "../signed_token.ts";
import { restrictionsClaim, restrictionsFromClaim } from "./restrictions.ts";

/** The day on which a token was last seen, and from where it came first on that day. */
export interface TokenUse {
  /** In UTC, as `2026-01-05`. */
  readonly day: string;
  readonly address: string;
}

/** What is kept of a token of our own, besides whose it is and its id; nothing of it is a secret. */
export interface RegisteredToken {
  /** SHA-256 of its text in base64, by which it is known again. */
  readonly digest: string;
  /** In seconds since the epoch, as are all times here. */
  readonly made: number;
  readonly expires: number;
  /** When the last token ends that can be got with it. */
  readonly latest: number;
  /** See {@link TokenFamily}. */
  readonly root: string;
  /** See {@link TokenFamily}; in milliseconds. */
  readonly since: number;
  readonly name?: string;
  readonly restrictions?: TokenRestrictions;
  readonly renewable: boolean;
  /** Whether the token is for this service only. */
  readonly limited: boolean;
  /** Administrator who had it made for its owner, by distinguished name. */
  readonly by?: string;
  /** Servers on which its owner had proved the account, if not on all. */
  readonly servers?: readonly string[];
  readonly madeFrom?: string;
  readonly used?: TokenUse;
}

/** A token of our own as the book goes by it. */
export interface ShownToken {
  /** Whose it is, by distinguished name. */
  readonly dn: string;
  readonly token: RegisteredToken;
  readonly family: TokenFamily;
}

/**
 * What the claims of a token of our own say about it; those from before tokens had an id are known by their digest.
 * @throws {InvalidToken} If it says what none of ours does.
 */
export function shownToken(token: SignedToken): ShownToken {
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

/** The claims by which a token tells its lineage. */
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
  if (typeof since !== "number" || members.length < line.length || members.length > LONGEST_LINE) {
    throw new InvalidToken("the claims by which it tells what it was got with cannot be read");
  }
  return { id, expires, since, root, line: members };
}

/** A token as it is kept until it ends. */
export function tokenRecord(
  { made, expires, restrictions, ...rest }: RegisteredToken,
  { id, owner }: { readonly id: string; readonly owner: string },
): KeptRecord {
  const content = { ...rest, restrictions: restrictionsClaim(restrictions) };
  return { key: id, owner, made: Math.floor(made), ends: Math.ceil(expires), content };
}

/** What was kept by {@link tokenRecord}; undefined if it is something else. */
export function tokenOf({ made, ends, content }: KeptRecord): RegisteredToken | undefined {
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
