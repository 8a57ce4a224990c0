import type { AttributeOrigin } from "../../attributes/attribute_source.ts";
import type { UserAttributes } from "../../attributes/user_attributes.ts";
import type { TokenCheck } from "../../authentication/authenticator.ts";
import type { Ban } from "../../throttling/ban.ts";
import type { Identity } from "../../model/identity.ts";

/** Decision about a caller, step by step; plain data without secrets. */
export interface Explanation {
  /** In calling order, our tokens first; empty without authentication. */
  readonly authenticators: readonly AuthenticatorStep[];
  /** Checks of an access token by each authenticator that takes it. */
  readonly token: readonly (TokenCheck & { readonly authenticator: string })[];
  /** Absent if not authenticated. */
  readonly caller?: Identity;
  /** In calling order. */
  readonly sources: readonly SourceStep[];
  /** Combined attributes. */
  readonly user?: UserAttributes;
  /** Whether the role may open sessions. */
  readonly mayAsk?: boolean;
  readonly servers: readonly ServerStep[];
  /** Bans and throttling of the running service for the caller; absent: no answer. */
  readonly bans?: readonly Ban[];
  /** First reason against a session; absent if some server permits it. */
  readonly refusal?: string;
}

/** Result of one authenticator. */
export interface AuthenticatorStep {
  readonly authenticator: string;
  readonly outcome: "accepted" | "refused" | "skipped" | "failed" | "not asked";
  readonly reason?: string;
}

/** Answer of one attribute source. */
export interface SourceStep {
  readonly source: string;
  /** Matching entry. */
  readonly entry?: AttributeOrigin;
  /** Default value first. */
  readonly attributes?: Readonly<Record<string, readonly string[]>>;
  readonly failure?: string;
  /** The answer applies where the authenticated account is not proven. */
  readonly elsewhere?: true;
}

/** Session on one server. */
export interface ServerStep {
  readonly server: string;
  readonly refusal?: string;
  /** Login requirements in words. */
  readonly requires?: string;
  readonly uid?: string;
  readonly gid?: string;
  readonly availableGroups?: readonly string[];
  /** Bytes per second; absent if unlimited. */
  readonly rateLimit?: number;
  /** Part of the limit due to reservations. */
  readonly reservationLimit?: number;
  readonly includes?: string;
  readonly excludes?: string;
  /** Reservations for the account. */
  readonly reservations?: readonly string[];
}
