import type { SignIn } from "../authentication/sign_in/sign_ins.ts";
import type { UserAttributes } from "../attributes/user_attributes.ts";
import type { AuditFacts } from "../logging/audit_record.ts";
import type { Logger } from "../logging/logger.ts";
import type { Authorization } from "../model/credentials.ts";
import type { Secret } from "../model/secret.ts";
import type { Caller } from "../model/identity.ts";
import type { HttpRequest } from "../model/http_message.ts";
import type { RequestedServer } from "./requested_server.ts";

/** Who calls, and what they are. */
export interface IdentifiedUser {
  readonly caller: Caller;
  /** Name of a caller who showed name and password. */
  readonly userName?: string;
  readonly user: UserAttributes;
  /** Shown in place of a user's: that of the link that is used. */
  readonly linkPassword?: Secret;
  /** The browser, if the caller is known by having signed in with it. */
  readonly signIn?: SignIn;
}

/** A request whose caller is known: all that a resource needs to answer it. */
export interface Call extends IdentifiedUser {
  readonly request: HttpRequest;
  /** Values of the route's placeholders, percent-decoded once. */
  readonly params: ReadonlyMap<string, string>;
  readonly query: URLSearchParams;
  /** The server that the path names; absent if the route has none. */
  readonly server?: RequestedServer;
  /**
   * Finds out who it is that shows these credentials in place of those in the header, as for those: slowed down, counted,
   * logged. With `none` the certificate of the connection counts, and else it does not.
   * @throws What that throws, 401 first.
   */
  readonly recognise: (authorization: Authorization) => Promise<IdentifiedUser>;
  /** Preferences of the request as its header has them. */
  readonly preferences?: string;
  /** Canonical address of the client, behind a gateway the one it names. */
  readonly clientAddress: string;
  /** Base of links for this caller, without trailing slash: the gateway's address if the request came through one. */
  readonly base: string;
  /** The way from this page to the service's root, with slash at its end; relative where nobody has said how clients know it. */
  readonly root: string;
  /** Adds particulars to the audit line of this request, such as the account a session runs under. */
  readonly audit: (facts: AuditFacts) => void;
  readonly requestId: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
}
