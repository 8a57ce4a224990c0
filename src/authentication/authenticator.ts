import type { Authorization, Credentials } from "../model/credentials.ts";
import type { RemoteStatus, Requester } from "../outgoing/remote_system.ts";
import type { SemaphoreWaiter } from "../model/fair_semaphore.ts";
import type { Identity } from "../model/identity.ts";
import type { UploadOutcome } from "./ssh_key/certificate/user_certificate.ts";
import type { UserSource } from "./account_status.ts";

export interface TokenIssuer {
  readonly url: string;
  readonly scopes: readonly string[];
  readonly asked: boolean; // whether tokens are also verified at the issuer
}

/** Required login (RFC 9470, 3). */
export interface StepUp {
  readonly acrValues?: readonly string[];
  readonly maxAge?: number; // seconds
}

/** Secrets of one sign-in attempt, known to its browser only. */
export interface BrowserVisit {
  readonly redirectUri: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string; // RFC 7636, 4.1
}

export interface ProviderSession {
  readonly sub: string; // from the ID token (OIDC Core 1.0, 2)
  readonly sid?: string; // from the ID token, if present (OIDC Back-Channel Logout 1.0, 2.1)
  readonly refreshToken?: string; // absent: none issued
}

export type Renewal =
  | { readonly kind: "renewed"; readonly identity: Identity }
  | Extract<AuthenticationResult, { readonly kind: "refused" }>;

export type LoginOutcome =
  | { readonly kind: "token"; readonly authorization: Authorization; readonly session: ProviderSession }
  | { readonly kind: "refused"; readonly reason: string }; // for the log

export interface BrowserLogin {
  readonly title: string; // displayed name
  readonly issuer: string; // as in `iss`
  /** Returns the authorisation URL. @throws {RemoteUnavailable} */
  begin(visit: BrowserVisit, caller: Requester): Promise<string>;
  /** @param answer Query of the redirect. @throws {RemoteUnavailable} */
  finish(answer: URLSearchParams, visit: BrowserVisit, caller: Requester): Promise<LoginOutcome>;
  /**
   * Returns the URL at which a browser logs out of the provider (OIDC RP-Initiated Logout 1.0, 2), if there is one.
   * @param back Address to which the provider leads back. @throws {RemoteUnavailable}
   */
  logoutAddress(back: string, caller: Requester): Promise<string | undefined>;
  /** Gets a new access token. @throws {RemoteUnavailable} */
  renew(
    session: ProviderSession & { readonly refreshToken: string },
    login: Pick<Identity, "acr" | "authTime">,
    caller: Requester,
  ): Promise<LoginOutcome>;
  /**
   * Verifies a logout token (OIDC Back-Channel Logout 1.0, 2.6) and calls `end`; if that fails, the token stays usable.
   * @throws {InvalidToken | RemoteUnavailable} Also what `end` throws.
   */
  readLogout<T>(text: string, end: (logins: EndedLogins) => Promise<T>, signal: AbortSignal): Promise<T>;
}

/** Sessions that a provider ended: one, or all of a subject. */
export interface EndedLogins {
  readonly sub: string | undefined;
  readonly sid: string | undefined;
}

export type AuthenticationResult =
  | { readonly kind: "accepted"; readonly identity: Identity }
  /** No credentials of this kind. */
  | { readonly kind: "skipped"; readonly reason?: string }
  /** Wrong credentials; the reason is for the log and contains no secret, the advice for the client. */
  | {
    readonly kind: "refused";
    readonly reason: string;
    readonly stepUp?: StepUp;
    readonly advice?: string | undefined;
  };

/** Account whose own authorities certify a key, and its place in the queue. */
export interface CertificateOwner extends SemaphoreWaiter {
  readonly account: string;
}

/** Certificates that users upload for their SSH keys. */
export interface CertificateStore {
  /** @param owner User whose own authorities apply. @throws {ERR_RECORD_STORE | ERR_KEY_LOOKUP_FAILED} */
  upload(line: string, owner?: CertificateOwner): Promise<UploadOutcome>;
  /** Removes a certificate; returns whether it existed. @throws {UnusableKey | ERR_RECORD_STORE} */
  forget(line: string, account?: string): Promise<boolean>;
  /** Simulates a login with the certificate's key, for operators. */
  simulate(line: string, user: string, clientAddress: string): AuthenticationResult;
}

export interface TokenCheck {
  readonly what: string; // such as `issuer`, or a key of the configuration
  readonly found: string;
  readonly expected: string;
  readonly ok: boolean;
}

/** Authenticates callers by one method, for concurrent requests. */
export interface Authenticator extends UserSource {
  readonly challenges: readonly ("Basic" | "Bearer" | "DPoP")[]; // schemes for `WWW-Authenticate`
  readonly acceptsSshKeys?: true; // whether it accepts tokens that users sign with their SSH keys
  /** Whether it accepts TLS client certificates alone, as browsers present. */
  readonly acceptsCertificates?: true;
  readonly browserLogin?: BrowserLogin;
  readonly issuer?: TokenIssuer; // issuer whose tokens only this authenticator may see
  /** @throws {ServiceError} Only on an outage of the authenticator. */
  authenticate(credentials: Credentials, signal: AbortSignal): Promise<AuthenticationResult>;
  /** Checks a token step by step without logging in; absent: takes no tokens of providers. */
  explainToken?(text: string, signal: AbortSignal): Promise<readonly TokenCheck[]>;
  /** Predicts the names that a login will get. @param anyCase Also in other spellings, as bans apply to them. */
  namesOf?(login: string, anyCase?: boolean): readonly string[];
  /** Reports whether a login is known in some spelling; with `another`, to other users. Absent: unknown. */
  lists?(login: string, another?: boolean): boolean;
  readonly certificates?: CertificateStore; // absent: takes no certificates
  status?(address?: string): RemoteStatus; // returns the status of its remote systems together, or of one
  close(): void;
}
