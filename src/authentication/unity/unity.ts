import { attempt, onError } from "../../model/attempt.ts";
import { Buffer } from "node:buffer";
import { randomBytes, X509Certificate } from "node:crypto";
import type { Logger } from "../../logging/logger.ts";
import type { Clock, Stopwatch } from "../../model/clock.ts";
import type { Credentials } from "../../model/credentials.ts";
import type { OutgoingHttp, OutgoingResponse } from "../../outgoing/outgoing.ts";
import { isThisMachine } from "../../config/kind.ts";
import { RemoteHttp } from "../../outgoing/remote_http.ts";
import type { Asker, RemoteStatus } from "../../outgoing/remote_system.ts";
import { askerOf } from "../asker_of.ts";
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

interface PassedOn {
  readonly key: readonly string[];
  readonly authorization: string; // `Authorization` header
}

function passPassword(credentials: Credentials): PassedOn | AuthenticationResult {
  const passed = passwordForProvider(credentials);
  if ("kind" in passed) return passed;
  const { user, password } = passed;
  const encoded = Buffer.from(`${user}:${password}`, "utf8").toString("base64");
  return { key: [user, password], authorization: `Basic ${encoded}` };
}

function passToken(credentials: Credentials): PassedOn | AuthenticationResult {
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
  readonly #takesTokens: boolean;
  readonly #log: Logger;
  readonly #assignments: Assignments;
  readonly #remote: RemoteHttp;
  readonly #cache: AnswerCache<AuthenticationResult>;
  #sha1Seen = false;

  /** @throws {InvalidFile} For an invalid expression. */
  constructor(readonly config: UnityConfig, readonly parts: UnityParts) {
    this.#takesTokens = config.kind === "UnityOAuthAuthenticator";
    this.challenges = [this.#takesTokens ? "Bearer" : "Basic"];
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
    const passed = (this.#takesTokens ? passToken : passPassword)(credentials);
    if ("kind" in passed) return passed;
    const { key, authorization } = passed;
    return await this.#cache.get(key, async (signal, credential) => {
      const read = () => this.#takesTokens && void readForeignToken(key[0] ?? "");
      const refused = attempt(read, InvalidToken, ({ message }) => this.#refused(message));
      return refused || await this.#ask(authorization, askerOf(credentials, credential, signal));
    }, signal);
  }

  status(): RemoteStatus {
    return this.#remote.status();
  }

  close(): void {
    this.#cache.close();
  }

  async #ask(authorization: string, asker: Asker): Promise<Answer<AuthenticationResult>> {
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
      asker,
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
      { issuers: exactly(issuers(), now), anchored: anchored(issuers(), anchors(), now) },
    );
    const proved = Math.floor(sharedClock() / 1000);
    const assigned = this.#assignments.attributes(attributes);
    const identity = { dn, method: "UNITY-SAML", via: this.name, proved, ...assigned };
    return { value: { kind: "accepted", identity }, good: true, lifetimeMs: GOOD_MS, endsAt: usableUntil };
  }

  /** Accepts SHA-1 where nobody can change responses in transit, and warns once. @throws {InvalidResponse} */
  #acceptSha1(): void {
    const { protocol, hostname } = new URL(this.config.address);
    if (protocol !== "https:" && !isThisMachine(hostname)) {
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
export function exactly(issuers: readonly string[], at: number): Signers {
  return (shown) => find(issuers, shown, at);
}

/** Trusts the issuers, the anchors, and certificates that an anchor signed. */
export function anchored(issuers: readonly string[], anchors: readonly string[], at: number): Signers {
  return (shown) => {
    const known = find([...issuers, ...anchors], shown, at);
    if (known !== undefined) return known;
    const certificate = attempt(() => new X509Certificate(shown), Error, () => undefined);
    if (certificate === undefined || !isValid(certificate, at)) return undefined;
    const isSigned = sortTrust(anchors).issuers.some(({ certificate: anchor }) =>
      isValid(anchor, at) && certificate.checkIssued(anchor) && isSignedBy(certificate, anchor)
    );
    return isSigned ? certificate : undefined;
  };
}

function find(trusted: readonly string[], shown: Uint8Array, at: number): X509Certificate | undefined {
  return trusted.map((pem) => new X509Certificate(pem))
    .find((certificate) => certificate.raw.equals(shown) && isValid(certificate, at));
}

function isValid(certificate: X509Certificate, at: number): boolean {
  return isValidAt(validityOf(certificate), at);
}
