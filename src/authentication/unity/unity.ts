import { attempt, onError } from "../../model/attempt.ts";
import { Buffer } from "node:buffer";
import { randomBytes, X509Certificate } from "node:crypto";
import type { Logger } from "../../logging/logger.ts";
import type { Clock, Stopwatch } from "../../model/clock.ts";
import type { Credentials } from "../../model/credentials.ts";
import type { OutgoingHttp, OutgoingResponse } from "../../outgoing/outgoing.ts";
import { isLocalHost } from "../../config/kind.ts";
import { RemoteHttp } from "../../outgoing/remote_http.ts";
import type { RemoteStatus, Requester } from "../../outgoing/remote_system.ts";
import { requesterOf } from "../requester_of.ts";
import { Assignments } from "../assignments.ts";
import type { AuthenticationResult, Authenticator } from "../authenticator.ts";
import type { AuthenticatorParts } from "../authenticator_kind.ts";
import { type Answer, AnswerCache } from "../../model/answer_cache.ts";
import { passwordForProvider, tokenForProvider } from "../parse_credentials.ts";
import { refusalIn } from "../provider_answers.ts";
import { InvalidToken, readForeignToken } from "../signed_token.ts";
import {
  ASSERTION,
  InvalidResponse,
  NAME_FORMAT_ENTITY,
  NAME_ID_FORMATS,
  PROTOCOL,
  SOAP,
} from "./saml_names.ts";
import type { UnityConfig } from "./keys.ts";
import { readSamlResponse } from "./saml_response.ts";
import { isSignedBy } from "../../model/trust/signed_by.ts";
import { sortTrust } from "../../model/trust/trusted_certificates.ts";
import { isValidAt, validityOf } from "../../model/trust/certificate_facts.ts";
import type { Signers } from "./signed_element.ts";

export type UnityParts =
  & AuthenticatorParts["assertions"]
  & Pick<AuthenticatorParts, "clock" | "log">
  & {
    readonly http: OutgoingHttp;
    readonly sharedClock?: Clock; // default: `clock`
    readonly elapsed?: Stopwatch;
    readonly serverDn: string | undefined; // DN of the server's certificate, as audience
  };

interface ForwardedCredential {
  readonly key: readonly string[];
  readonly authorization: string; // `Authorization` header
}

function forwardPassword(credentials: Credentials): ForwardedCredential | AuthenticationResult {
  const forwarded = passwordForProvider(credentials);
  if ("kind" in forwarded) return forwarded;
  const { user, password } = forwarded;
  const encoded = Buffer.from(`${user}:${password}`, "utf8").toString("base64");
  return { key: [user, password], authorization: `Basic ${encoded}` };
}

function forwardToken(credentials: Credentials): ForwardedCredential | AuthenticationResult {
  const token = tokenForProvider(credentials, { bound: false });
  return typeof token === "string" ? { key: [token], authorization: `Bearer ${token}` } : token;
}

const GOOD_MS = 5 * 60_000; // cache time of good results
const BAD_MS = 5_000; // likewise, of bad ones

/** Forwards credentials to a Unity provider, which returns a SAML assertion (credentials.md 5.4). */
export class Unity implements Authenticator {
  readonly name: string;
  readonly challenges: readonly ("Basic" | "Bearer")[];
  readonly derivedLifetime: number;
  readonly #acceptsTokens: boolean;
  readonly #log: Logger;
  readonly #assignments: Assignments;
  readonly #remote: RemoteHttp;
  readonly #cache: AnswerCache<AuthenticationResult>;
  #sha1Seen = false;

  /** @throws {InvalidFile} For an invalid expression. */
  constructor(readonly config: UnityConfig, readonly parts: UnityParts) {
    this.#acceptsTokens = config.kind === "UnityOAuthAuthenticator";
    this.challenges = [this.#acceptsTokens ? "Bearer" : "Basic"];
    this.name = config.name;
    this.derivedLifetime = config.derivedLifetime;
    this.#log = parts.log.child({ method: config.name });
    this.#assignments = new Assignments(config.assignments, this.#log);
    this.#remote = new RemoteHttp({ ...parts, address: config.address, log: this.#log });
    this.#cache = new AnswerCache({ ...parts, guessable: true });
    if (!config.validate) {
      this.#log.warn(
        "SIGNATURES OF ASSERTIONS ARE NOT REQUIRED (validate=false): only TLS vouches for the users",
      );
    } else if (parts.issuers().length === 0) {
      this.#log.warn("no trusted issuers of assertions are configured: all users will be refused");
    }
  }

  async authenticate(credentials: Credentials, signal: AbortSignal): Promise<AuthenticationResult> {
    const forwarded = (this.#acceptsTokens ? forwardToken : forwardPassword)(credentials);
    if ("kind" in forwarded) return forwarded;
    const { key, authorization } = forwarded;
    return await this.#cache.get(key, async (signal, credential) => {
      const read = () => this.#acceptsTokens && void readForeignToken(key[0] ?? "");
      const refused = attempt(read, InvalidToken, ({ message }) => this.#refused(message));
      return refused || await this.#ask(authorization, requesterOf(credentials, credential, signal));
    }, signal);
  }

  status(): RemoteStatus {
    return this.#remote.status();
  }

  close(): void {
    this.#cache.close();
  }

  async #ask(authorization: string, caller: Requester): Promise<Answer<AuthenticationResult>> {
    const requestId = `_${randomBytes(20).toString("hex")}`;
    return await this.#remote.ask(
      {
        method: "POST",
        url: this.config.address,
        headers: {
          Authorization: authorization,
          "Content-Type": "text/xml; charset=UTF-8",
          SOAPAction: '"http://www.oasis-open.org/committees/security"',
        },
        body: authnRequest(requestId, {
          url: this.parts.url,
          nameIdFormat: NAME_ID_FORMATS[this.config.nameIdFormat],
          at: this.parts.clock(),
        }),
      },
      caller,
      (response) => this.#read(response, requestId),
    );
  }

  async #read(response: OutgoingResponse, requestId: string): Promise<Answer<AuthenticationResult>> {
    const { status, body } = response;
    const refusal = refusalIn("saml", response);
    if (refusal !== undefined) return this.#refused(refusal);
    if (status < 200 || status >= 300) throw this.#remote.unusable(`unexpected status ${status}`);
    // A proxy's page or a truncated message says nothing about the user.
    if (!/<\/(?:[\w.-]+:)?Envelope\s*>$/.test(body.trimEnd().slice(-200))) {
      throw this.#remote.unusable("the reply is no whole SOAP message");
    }
    return await this.#accept(body, requestId).catch(onError(InvalidResponse, (error) => {
      this.#log.warn("response of the identity provider rejected", { error });
      return this.#refused(error.message);
    }));
  }

  async #accept(body: string, requestId: string): Promise<Answer<AuthenticationResult>> {
    const { url, additionalIdentifiers, serverDn, clock, sharedClock = clock, issuers, anchors } = this.parts;
    const { nameIdFormat, identityTemplate, validate: strict } = this.config;
    const now = clock();
    const { dn, attributes, usableUntil } = await readSamlResponse(
      body,
      {
        requestId,
        identifiers: [url, ...additionalIdentifiers],
        serverDn,
        nameIdFormat: NAME_ID_FORMATS[nameIdFormat],
        identityTemplate,
        now,
        strict,
        onSha1: () => this.#acceptSha1(),
      },
      { pinned: pinnedSigners(issuers(), now), anchored: anchoredSigners(issuers(), anchors(), now) },
    );
    const proved = Math.floor(sharedClock() / 1000);
    const assigned = this.#assignments.attributes(attributes);
    const identity = { dn, method: "UNITY-SAML", via: this.name, proved, ...assigned };
    return { value: { kind: "accepted", identity }, good: true, lifetimeMs: GOOD_MS, endsAt: usableUntil };
  }

  /** Accepts SHA-1 where nobody can change responses in transit, and warns once. @throws {InvalidResponse} */
  #acceptSha1(): void {
    const { protocol, hostname } = new URL(this.config.address);
    if (protocol !== "https:" && !isLocalHost(hostname)) {
      throw new InvalidResponse("SHA-1 is accepted over TLS only: expected an https:// address");
    }
    if (!this.#sha1Seen) this.#log.warn("the provider signs with SHA-1, accepted over TLS only");
    this.#sha1Seen = true;
  }

  #refused(reason: string): Answer<AuthenticationResult> {
    return { value: { kind: "refused", reason }, good: false, lifetimeMs: BAD_MS };
  }
}

/** Builds the unsigned SOAP request (credentials.md 5.4). @param id 128 random bits as an XML name. */
function authnRequest(id: string, { url, nameIdFormat, at }: {
  readonly url: string;
  readonly nameIdFormat: string;
  readonly at: number;
}): string {
  const instant = new Date(at).toISOString().replace(/\.[0-9]+Z$/, "Z");
  const here = url.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  return `<soap:Envelope xmlns:soap="${SOAP}"><soap:Body>` +
    `<samlp:AuthnRequest xmlns:samlp="${PROTOCOL}" ID="${id}" Version="2.0" IssueInstant="${instant}"` +
    ` AssertionConsumerServiceURL="${here}">` +
    `<saml:Issuer xmlns:saml="${ASSERTION}" Format="${NAME_FORMAT_ENTITY}">${here}</saml:Issuer>` +
    `<samlp:NameIDPolicy Format="${nameIdFormat}" AllowCreate="true"/>` +
    `</samlp:AuthnRequest></soap:Body></soap:Envelope>`;
}

/** Trusts only the issuers' own certificates while valid. */
export function pinnedSigners(issuers: readonly string[], at: number): Signers {
  return (der) => find(issuers, der, at);
}

/** Trusts the issuers, the anchors, and certificates that an anchor signed. */
export function anchoredSigners(issuers: readonly string[], anchors: readonly string[], at: number): Signers {
  return (der) => {
    const known = find([...issuers, ...anchors], der, at);
    if (known !== undefined) return known;
    const certificate = attempt(() => new X509Certificate(der), Error, () => undefined);
    if (certificate === undefined || !isValid(certificate, at)) return undefined;
    const isSigned = sortTrust(anchors).issuers.some(({ certificate: anchor }) =>
      isValid(anchor, at) && certificate.checkIssued(anchor) && isSignedBy(certificate, anchor)
    );
    return isSigned ? certificate : undefined;
  };
}

function find(trusted: readonly string[], der: Uint8Array, at: number): X509Certificate | undefined {
  return trusted.map((pem) => new X509Certificate(pem))
    .find((certificate) => certificate.raw.equals(der) && isValid(certificate, at));
}

function isValid(certificate: X509Certificate, at: number): boolean {
  return isValidAt(validityOf(certificate), at);
}
