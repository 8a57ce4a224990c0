import type { AttributeOrigin } from "../../attributes/attribute_source.ts";
import type { UserAttributes } from "../../attributes/user_attributes.ts";
import type { Ban } from "../../throttling/ban.ts";
import type { Identity } from "../../model/identity.ts";

/** How the service decides about a caller, step by step; plain data without secrets. */
export interface Explanation {
  /** In the order they are asked, issued tokens first. Empty if authentication was left out. */
  readonly authenticators: readonly AuthenticatorStep[];
  /** Absent if nobody was recognised. */
  readonly caller?: Identity;
  /** Answers of the attribute sources, in the order they were asked. */
  readonly sources: readonly SourceStep[];
  /** What the answers come to. */
  readonly user?: UserAttributes;
  /** Whether the role may open sessions. */
  readonly mayAsk?: boolean;
  readonly servers: readonly ServerStep[];
  /** Bans and waiting times of the running service that concern the caller; absent: the service was not asked. */
  readonly bans?: readonly Ban[];
  /** The first reason why no session would be opened; absent if one would be on one of the servers. */
  readonly refusal?: string;
}

/** What one method made of the credentials. */
export interface AuthenticatorStep {
  readonly authenticator: string;
  readonly outcome: "accepted" | "refused" | "skipped" | "failed" | "not asked";
  readonly reason?: string;
}

/** What one source knows about the caller. */
export interface SourceStep {
  readonly source: string;
  /** The entry that is meant. */
  readonly entry?: AttributeOrigin;
  /** Values by attribute, the default first. */
  readonly attributes?: Readonly<Record<string, readonly string[]>>;
  /** Why there is no answer. */
  readonly failure?: string;
  /** The answer holds where the account that authentication found is not proven. */
  readonly elsewhere?: true;
}

/** What a session on one server would be. */
export interface ServerStep {
  readonly server: string;
  /** Why there would be none. */
  readonly refusal?: string;
  /** What the server requires of logins, in words; absent: every login will do. */
  readonly requires?: string;
  readonly uid?: string;
  readonly gid?: string;
  readonly availableGroups?: readonly string[];
  /** Bytes per second; absent if there is no limit. */
  readonly rateLimit?: number;
  /** Limit that reservations cause. */
  readonly reservationLimit?: number;
  readonly includes?: string;
  readonly excludes?: string;
  /** Reservations that name the account. */
  readonly reservations?: readonly string[];
}
