import { attempt } from "../../model/attempt.ts";
import { checkIdentity, NoIdentity } from "../check_identity.ts";
import type { Variable, Variables } from "../expression/value.ts";
import { fillIdentityTemplate } from "../claims.ts";
import {
  ASSERTION,
  BEARER,
  InvalidResponse,
  NAME_FORMAT_ENTITY,
  NAME_FORMAT_UNSPECIFIED,
  PROTOCOL,
  SIGNATURE,
  SOAP,
  SUCCESS,
} from "./saml_names.ts";
import { TimeSlicer } from "../../model/time_slicing.ts";
import { type SignedElement, type Signers, verifySignature } from "./signed_element.ts";
import { parseXml, type XmlElement } from "./xml_element.ts";
import { sameName } from "../../model/distinguished_name.ts";

/**
 * Verifies a SOAP response (credentials.md 5.4). Exactly one assertion must authenticate; others may add
 * attributes of the same user, in strict mode signed by the same certificate. @throws {InvalidResponse}
 */
export async function readSamlResponse(
  text: string,
  expected: Expectation,
  signers: { readonly pinned: Signers; readonly anchored: Signers }, // of assertions in strict mode, and of others
) {
  const message = { text, steps: new TimeSlicer(), onSha1: expected.onSha1 };
  const response = findResponse(await parseXml(text));
  checkResponse(response, expected);
  if (response.all(SIGNATURE, "Signature").length > 0) {
    await verifySignature(message, response, signers.anchored);
  }

  const found = response.all(ASSERTION, "Assertion");
  const everywhere = Array.from(response.tree()).filter((element) => element.is(ASSERTION, "Assertion"));
  if (everywhere.length !== found.length) {
    throw new InvalidResponse("an assertion is hidden in another place");
  }
  const signed: SignedElement[] = [];
  const assertions: Assertion[] = [];
  for (const element of found) {
    checkSignatures(element);
    const isSigned = element.all(SIGNATURE, "Signature").length > 0;
    if (!isSigned && expected.strict) throw new InvalidResponse("an assertion is not signed");
    if (isSigned) {
      const trusted = expected.strict ? signers.pinned : signers.anchored;
      const copy = await verifySignature(message, element, trusted);
      signed.push(copy);
      assertions.push(new Assertion(copy.element));
    } else assertions.push(new Assertion(element));
  }
  const [first, ...others] = signed;
  if (others.some(({ signer }) => !signer.raw.equals(first?.signer.raw ?? new Uint8Array()))) {
    throw new InvalidResponse("the assertions are signed by different issuers");
  }
  return combine(response, assertions, expected);
}

function findResponse(envelope: XmlElement): XmlElement {
  if (!envelope.is(SOAP, "Envelope")) throw new InvalidResponse("the message is no SOAP envelope");
  const [content, more] = envelope.one(SOAP, "Body").children;
  if (content?.is(SOAP, "Fault")) throw new InvalidResponse("the provider answered with a SOAP fault");
  if (!content?.is(PROTOCOL, "Response") || more !== undefined) {
    throw new InvalidResponse("the message does not hold exactly one SAML response");
  }
  if (countSaml(envelope) !== countSaml(content)) {
    throw new InvalidResponse("the message has SAML outside of the response");
  }
  return content;
}

function countSaml(element: XmlElement): number {
  return Array.from(element.tree()).filter(({ namespace }) =>
    namespace === PROTOCOL || namespace === ASSERTION
  ).length;
}

function checkResponse(response: XmlElement, { requestId }: Expectation): void {
  checkHead(response);
  const inResponseTo = response.attribute("InResponseTo");
  if (inResponseTo !== undefined && inResponseTo !== requestId) {
    throw new InvalidResponse("the response is to another request");
  }
  const code = response.one(PROTOCOL, "Status").one(PROTOCOL, "StatusCode").requiredAttribute("Value");
  if (code !== SUCCESS) throw new InvalidResponse(`the provider refused with ${code}`);
}

function checkSignatures(assertion: XmlElement): void {
  const inside = Array.from(assertion.tree()).filter((element) => element.is(SIGNATURE, "Signature"));
  if (inside.length > 1) throw new InvalidResponse("an assertion holds more than one signature");
  if (inside.length !== assertion.all(SIGNATURE, "Signature").length) {
    throw new InvalidResponse("an assertion holds a signature in another place");
  }
}

function combine(response: XmlElement, assertions: readonly Assertion[], expected: Expectation) {
  const authentications = assertions.filter(({ isAuthentication }) => isAuthentication);
  const [authentication] = authentications;
  if (authentication === undefined || authentications.length > 1) {
    throw new InvalidResponse(
      `${authentications.length} assertions say that a user authenticated, expected one`,
    );
  }
  const issuers = [
    ...response.all(ASSERTION, "Issuer").map(readIssuer),
    ...assertions.map(({ issuer }) => issuer),
  ];
  if (new Set(issuers).size > 1) throw new InvalidResponse("the response has different issuers");

  authentication.checkAuthentication(expected);
  let attributes = authentication.attributes;
  for (const assertion of assertions) {
    if (assertion === authentication) continue;
    assertion.checkAttributes(authentication, expected);
    attributes = new Map([...attributes, ...assertion.attributes]);
  }
  const dn = readName(authentication, attributes, expected);
  return { dn, attributes, usableUntil: authentication.usableUntil };
}

function readName(
  { nameId: { format, text }, issuer }: Assertion,
  attributes: Variables,
  { nameIdFormat, identityTemplate }: Expectation,
): string {
  if (format !== nameIdFormat) {
    throw new InvalidResponse(`the subject is named as ${format}, expected ${nameIdFormat}`);
  }
  const own = new Map([["NameID", text], ["Issuer", issuer]]);
  const named = () =>
    identityTemplate === undefined
      ? checkIdentity(text)
      : fillIdentityTemplate(identityTemplate, (name) => own.get(name) ?? attributes.get(name));
  return attempt(named, NoIdentity, (cause) => {
    throw new InvalidResponse(cause.message, { cause });
  });
}

export interface Expectation {
  readonly requestId: string; // `ID` of the request
  readonly identifiers: readonly string[]; // own URL and aliases, as recipient or audience
  readonly serverDn: string | undefined; // DN of the server's certificate, as audience
  readonly nameIdFormat: string; // requested name format
  /** Template of a DN from name and attributes; absent: the name is a DN. */
  readonly identityTemplate: string | undefined;
  readonly now: number;
  readonly strict: boolean; // whether both passes of credentials.md 5.4 apply, or only the first
  /** Called before the service verifies a signature with SHA-1. @throws {InvalidResponse} To refuse it. */
  readonly onSha1: () => void;
}

/** Clock skew of the first pass, and age of attribute statements; milliseconds. */
const TOLERANCE_MS = 3 * 60_000;

/** Clock skew if both passes apply, in milliseconds (SAML 2.0 Core, 1.3.3). The Java service allows none. */
const STRICT_TOLERANCE_MS = 60_000;

function toleranceOf({ strict }: Pick<Expectation, "strict">): number {
  return strict ? STRICT_TOLERANCE_MS : TOLERANCE_MS;
}

const CONDITIONS: ReadonlySet<string> = new Set(["AudienceRestriction", "OneTimeUse", "ProxyRestriction"]);

/** Assertion with a verified or ignored signature. */
class Assertion {
  /** @throws {InvalidResponse} If it is not SAML 2.0, or incomplete. */
  constructor(readonly element: XmlElement) {
    checkHead(element);
    this.issuer;
    this.nameId;
  }

  get issuer(): string {
    return readIssuer(this.element.one(ASSERTION, "Issuer"));
  }

  get nameId(): { readonly format: string; readonly text: string } {
    const nameId = this.element.one(ASSERTION, "Subject").one(ASSERTION, "NameID");
    return { format: nameId.attribute("Format") ?? NAME_FORMAT_UNSPECIFIED, text: nameId.exactText };
  }

  get isAuthentication(): boolean {
    return this.element.all(ASSERTION, "AuthnStatement").length > 0;
  }

  /** End of validity in milliseconds since the epoch; 0 for one-time use. */
  get usableUntil(): number {
    const conditions = this.element.one(ASSERTION, "Conditions");
    if (conditions.all(ASSERTION, "OneTimeUse").length > 0) return 0;
    const sessions = this.element.all(ASSERTION, "AuthnStatement");
    const ends = [
      conditions.attribute("NotOnOrAfter"),
      ...sessions.map((session) => session.attribute("SessionNotOnOrAfter")),
    ];
    return Math.min(...ends.map((end) => end === undefined ? Infinity : parseInstant(end)));
  }

  /** Attributes as lists; a repeated name replaces the earlier one. */
  get attributes(): Variables {
    const attributes = new Map<string, Variable>();
    for (const statement of this.element.all(ASSERTION, "AttributeStatement")) {
      for (const attribute of statement.all(ASSERTION, "Attribute")) {
        const values = attribute.all(ASSERTION, "AttributeValue").filter(({ children }) =>
          children.length === 0
        );
        attributes.set(attribute.requiredAttribute("Name"), values.map(({ exactText }) => exactText));
      }
    }
    return attributes;
  }

  /** Asserts that it authenticates a user for this request. @throws {InvalidResponse} */
  checkAuthentication(expected: Expectation): void {
    this.#checkConditions(this.element.one(ASSERTION, "Conditions"), expected, true);
    for (const statement of this.element.all(ASSERTION, "AuthnStatement")) {
      const end = statement.attribute("SessionNotOnOrAfter");
      if (end !== undefined && expected.now - toleranceOf(expected) >= parseInstant(end)) {
        throw new InvalidResponse("the session has ended");
      }
    }
    const bearers = this.element.one(ASSERTION, "Subject").all(ASSERTION, "SubjectConfirmation")
      .filter((confirmation) => confirmation.attribute("Method") === BEARER);
    if (bearers.length === 0) throw new InvalidResponse("the subject is not confirmed for a bearer");
    for (const bearer of bearers) checkBearer(bearer, expected);
  }

  /** Asserts that it concerns the same user and issuer, and is fresh; it names neither us nor the request. @throws {InvalidResponse} */
  checkAttributes(authentication: Assertion, expected: Expectation): void {
    const [own, other] = [this.nameId, authentication.nameId];
    if (own.text !== other.text || own.format !== other.format) {
      throw new InvalidResponse("attributes of another user");
    }
    const issued = parseInstant(this.element.requiredAttribute("IssueInstant"));
    if (Math.abs(issued - expected.now) > TOLERANCE_MS) {
      throw new InvalidResponse("the attributes are not fresh");
    }
    for (const conditions of this.element.all(ASSERTION, "Conditions")) {
      this.#checkConditions(conditions, expected, false);
    }
  }

  #checkConditions(conditions: XmlElement, expected: Expectation, needsAudience: boolean): void {
    checkPeriod(conditions, expected);
    for (const condition of conditions.children) {
      if (condition.namespace !== ASSERTION || !CONDITIONS.has(condition.name)) {
        throw new InvalidResponse(`the condition ${condition.name} is not known`);
      }
    }
    for (const name of ["OneTimeUse", "ProxyRestriction"]) {
      if (conditions.all(ASSERTION, name).length > 1) throw new InvalidResponse(`more than one ${name}`);
    }
    const restrictions = conditions.all(ASSERTION, "AudienceRestriction");
    if (needsAudience && restrictions.length === 0) {
      throw new InvalidResponse("the audience is not restricted");
    }
    if (!expected.strict) return;
    for (const restriction of restrictions) {
      const audiences = restriction.all(ASSERTION, "Audience").map(({ text }) => text);
      const { identifiers, serverDn } = expected;
      const isOurs = (audience: string) =>
        identifiers.includes(audience) || (serverDn !== undefined && sameName(audience, serverDn));
      if (!audiences.some(isOurs)) throw new InvalidResponse("the assertion is for another audience");
    }
  }
}

function checkHead(element: XmlElement): void {
  element.requiredAttribute("ID");
  if (element.attribute("Version") !== "2.0") throw new InvalidResponse(`${element.name} is not of SAML 2.0`);
  parseInstant(element.requiredAttribute("IssueInstant"));
}

function readIssuer(issuer: XmlElement): string {
  if ((issuer.attribute("Format") ?? NAME_FORMAT_ENTITY) !== NAME_FORMAT_ENTITY) {
    throw new InvalidResponse("the issuer is no entity");
  }
  if (issuer.text === "") throw new InvalidResponse("the issuer is empty");
  return issuer.text;
}

function checkBearer(confirmation: XmlElement, expected: Expectation): void {
  const data = confirmation.one(ASSERTION, "SubjectConfirmationData");
  const recipient = data.requiredAttribute("Recipient");
  if (expected.strict && !expected.identifiers.includes(recipient)) {
    throw new InvalidResponse("the assertion is for another recipient");
  }
  if (data.attribute("InResponseTo") !== expected.requestId) {
    throw new InvalidResponse("the assertion is not in response to our request");
  }
  data.requiredAttribute("NotOnOrAfter");
  if (data.attribute("NotBefore") !== undefined) {
    throw new InvalidResponse("a bearer confirmation has NotBefore");
  }
  checkPeriod(data, expected);
}

/** Parses a UTC time (saml-core-2.0-os 1.3.3) to milliseconds. */
function parseInstant(text: string): number {
  const [, seconds, fraction = ""] =
    /^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]{1,9})?Z$/.exec(text) ?? [];
  const at = Date.parse(`${seconds}${fraction.slice(0, 4)}Z`);
  if (seconds === undefined || Number.isNaN(at) || !new Date(at).toISOString().startsWith(seconds)) {
    throw new InvalidResponse("a time is not given in UTC");
  }
  return at;
}

/** Checks `NotBefore` and `NotOnOrAfter` if present, with {@link toleranceOf}. */
function checkPeriod(element: XmlElement, expected: Expectation): void {
  const [now, tolerance] = [expected.now, toleranceOf(expected)];
  const [from, until] = ["NotBefore", "NotOnOrAfter"].map((name) => element.attribute(name));
  if (from !== undefined && now + tolerance < parseInstant(from)) {
    throw new InvalidResponse(`${element.name} is not valid yet`);
  }
  if (until !== undefined && now - tolerance >= parseInstant(until)) {
    throw new InvalidResponse(`${element.name} is no longer valid`);
  }
}
