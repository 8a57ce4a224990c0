import type { SignIn } from "../authentication/sign_in/sign_ins.ts";
import type { UserAttributes } from "../attributes/user_attributes.ts";
import type { AuditFacts } from "../logging/audit_record.ts";
import type { Logger } from "../logging/logger.ts";
import type { Authorization } from "../model/credentials.ts";
import type { Secret } from "../model/secret.ts";
import type { Caller } from "../model/identity.ts";
import type { HttpRequest } from "../model/http_message.ts";
import type { RequestedServer } from "./server_facts.ts";

export interface IdentifiedUser {
  readonly caller: Caller;
  readonly userName?: string; // set for callers with a password
  readonly user: UserAttributes;
  readonly linkPassword?: Secret; // password of the link, shown in place of a user's
  readonly signIn?: SignIn; // set for browsers that are signed in
}

export interface Call extends IdentifiedUser {
  readonly request: HttpRequest;
  readonly params: ReadonlyMap<string, string>; // percent-decoded once
  readonly query: URLSearchParams;
  readonly server?: RequestedServer;
  /** Authenticates other credentials like those in the header, by one authenticator or all; `none`: the certificate. */
  readonly recognise: (authorization: Authorization, by?: string) => Promise<IdentifiedUser>;
  readonly admit: (clientAddress: string, uid?: string) => void; // checks for bans at an address, and of an account
  /** Returns the caller's attributes as of now; undefined for a recent request. @throws As identification and attributes. */
  readonly userNow: () => Promise<UserAttributes | undefined>;
  readonly preferences?: string; // request header of that name
  readonly clientAddress: string; // canonical; behind a gateway the address that it reports
  /** Base of links, without trailing slash: the gateway's address for requests through one. */
  readonly base: string;
  /** Path from this page to the service's root, with a slash at its end; relative if no public URL is configured. */
  readonly root: string;
  readonly menu: ReadonlySet<string>; // paths of the pages that this service has
  readonly audit: (facts: AuditFacts) => void; // adds fields to the audit line of this request
  readonly requestId: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Request with the facts about its caller that are known so far. */
export type PartialCall =
  & Pick<Call, "request" | "query" | "base" | "root" | "menu" | "requestId">
  & Partial<IdentifiedUser>;
