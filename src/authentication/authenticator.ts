import type { Authorization, Credentials } from "../model/credentials.ts";
import type { Asker, RemoteStatus } from "../outgoing/remote_system.ts";
import type { SemaphoreWaiter } from "../model/fair_semaphore.ts";
import type { Identity } from "../model/identity.ts";
import type { UploadOutcome } from "./ssh_key/certificate/certificate_registry.ts";
import type { AskAccountStatus } from "./account_status.ts";

/** Who makes tokens for a method. */
export interface TokenIssuer {
  /** As in `iss`. */
  readonly url: string;
  /** Scopes that its tokens must have. */
  readonly scopes: readonly string[];
  /** Whether it is asked about its tokens, besides what can be seen of them here. */
  readonly asked: boolean;
}

/** How a user would have to log in instead (RFC 9470, 3). */
export interface StepUp {
  readonly acrValues?: readonly string[];
  /** Seconds. */
  readonly maxAge?: number;
}

/** What belongs to one attempt of one browser to sign in at a provider; whoever does not know it cannot go on with it. */
export interface BrowserVisit {
  /** Where the provider sends the browser back to. */
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  /** RFC 7636, 4.1. */
  readonly verifier: string;
}

/** A login as the provider knows it. */
export interface ProviderSession {
  /** Of the ID token (OIDC Core 1.0, 2). */
  readonly sub: string;
  /** Of the ID token, where the provider names sessions (OIDC Back-Channel Logout 1.0, 2.1). */
  readonly sid?: string;
  /** Refresh token, by which the provider can be asked again; absent: it gave none. */
  readonly refreshToken?: string;
}

/** What a provider says about a login that it vouched for before. */
export type Renewal =
  | { readonly kind: "renewed"; readonly identity: Identity; readonly refreshToken: string }
  | Extract<AuthenticationResult, { readonly kind: "refused" }>;

/** What came of it. */
export type LoginOutcome =
  /** What the browser's user is known by, and until when that counts at most, in seconds since the epoch. */
  | {
    readonly kind: "token";
    readonly authorization: Authorization;
    readonly until: number | undefined;
    readonly session: ProviderSession;
  }
  /** The reason is for the log. */
  | { readonly kind: "refused"; readonly reason: string };

/** A provider where people sign in with their browsers, and from where they come back. */
export interface BrowserLogin {
  /** What people know it by. */
  readonly title: string;
  /** As in `iss`. */
  readonly issuer: string;
  /** Where the browser is to go. @throws {RemoteUnavailable} */
  begin(visit: BrowserVisit, asker: Asker): Promise<string>;
  /** @param answer Query with which the browser came back. @throws {RemoteUnavailable} */
  finish(answer: URLSearchParams, visit: BrowserVisit, asker: Asker): Promise<LoginOutcome>;
  /** Gets another access token for a login of before. @throws {RemoteUnavailable} */
  renew(
    session: ProviderSession & { readonly refreshToken: string },
    login: Pick<Identity, "acr" | "authTime">,
    asker: Asker,
  ): Promise<LoginOutcome>;
  /** Which logins a logout token ends (OIDC Back-Channel Logout 1.0, 2.6). @throws {InvalidToken | RemoteUnavailable} */
  readLogout(text: string, signal: AbortSignal): Promise<EndedLogins>;
}

/** Logins that a provider has ended: one session, or all of a subject. */
export interface EndedLogins {
  readonly sub: string | undefined;
  readonly sid: string | undefined;
}

/** What one method made of the caller's credentials. */
export type AuthenticationResult =
  | { readonly kind: "accepted"; readonly identity: Identity }
  /** No credentials of this method's kind. */
  | { readonly kind: "skipped"; readonly reason?: string }
  /** Of this method's kind, but wrong; the reason is for the log only and names nothing secret. */
  | { readonly kind: "refused"; readonly reason: string; readonly stepUp?: StepUp };

/** An account whose daemons are asked which authorities its user names, and where that waits for its turn. */
export interface CertificateOwner extends SemaphoreWaiter {
  readonly account: string;
}

/** Where certificates are shown once, so that their keys count while they live. */
export interface CertificateDesk {
  /** @param owner Whose own authorities count for it, in place of the operator's. @throws {ERR_RECORD_STORE | ERR_KEY_LOOKUP_FAILED} */
  upload(line: string, owner?: CertificateOwner): Promise<UploadOutcome>;
  /** Whether the certificate was there. @throws {UnusableKey | ERR_RECORD_STORE} */
  forget(line: string, account?: string): Promise<boolean>;
  /** What a login by the key of this certificate would be, were the key proved; for operators. */
  simulate(line: string, user: string, clientAddress: string): AuthenticationResult;
}

/** One way to find out who is calling. Serves several requests at once. */
export interface Authenticator {
  /** In the configured order, such as `SSHKEY`. */
  readonly name: string;
  /** Schemes to offer in `WWW-Authenticate`, such as `Basic`. */
  readonly challenges: readonly ("Basic" | "Bearer" | "DPoP")[];
  /** Whether a certificate on the connection is all that it needs, which browsers can show. */
  readonly looksAtCertificates?: true;
  /** Where people sign in with their browsers to get a token for this method. */
  readonly browserLogin?: BrowserLogin;
  /** Whose tokens it alone is shown, by the `iss` that they claim; absent: it has no issuer of its own. */
  readonly issuer?: TokenIssuer;
  /** @throws {ServiceError} Only if the method itself is out of order, say its provider is down. */
  authenticate(credentials: Credentials, signal: AbortSignal): Promise<AuthenticationResult>;
  /**
   * Whether a user whom this method named is still there; absent if it cannot tell without credentials.
   * @throws {ServiceError} If it is out of order.
   */
  accountStatusOf?: AskAccountStatus;
  /** Longest time that anything derived from a login by it may last, in seconds; absent: while {@link accountStatusOf} knows it. */
  readonly derivedLifetime?: number;
  /** Names that a user gets who signs in by this login, as far as that is known beforehand. */
  namesOf?(login: string): readonly string[];
  /** Whether this method knows the login, by a file or from daemons: one that may be written, being no password in the wrong field. */
  lists?(login: string): boolean;
  /** Where users show certificates for their keys, if this method takes such. */
  readonly certificates?: CertificateDesk;
  /** State of the system that this method asks, if it asks one. */
  status?(): RemoteStatus;
  /** Releases watchers and connections. */
  close(): void;
}
