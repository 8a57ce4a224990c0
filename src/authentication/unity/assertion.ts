import { sameName } from "../../model/distinguished_name.ts";
import type { Variable, Variables } from "../expression/value.ts";
import { InvalidResponse } from "./invalid_response.ts";
import { ASSERTION, BEARER, NAME_FORMAT_ENTITY, NAME_FORMAT_UNSPECIFIED } from "./saml_names.ts";
import type { XmlElement } from "./xml_element.ts";

/** Expected properties of an assertion. */
export interface Expectation {
  readonly requestId: string; // `ID` of the request
  readonly identifiers: readonly string[]; // own URL and aliases, as recipient or audience
  readonly serverDn: string | undefined; // DN of the server's certificate, as audience
  readonly nameIdFormat: string; // requested name format
  /** Makes a DN of name and attributes; absent: the name is a DN. */
  readonly identityTemplate: string | undefined;
  readonly now: number;
  /** Both passes of authentication.md 5.4, or only the first. */
  readonly strict: boolean;
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
export class Assertion {
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
    const until = conditions.attribute("NotOnOrAfter");
    return until === undefined ? Infinity : parseInstant(until);
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
    const tolerance = toleranceOf(expected);
    this.#checkConditions(this.element.one(ASSERTION, "Conditions"), expected, tolerance, true);
    for (const statement of this.element.all(ASSERTION, "AuthnStatement")) {
      const end = statement.attribute("SessionNotOnOrAfter");
      if (end !== undefined && expected.now - tolerance >= parseInstant(end)) {
        throw new InvalidResponse("the session has ended");
      }
    }
    const bearers = this.element.one(ASSERTION, "Subject").all(ASSERTION, "SubjectConfirmation")
      .filter((confirmation) => confirmation.attribute("Method") === BEARER);
    if (bearers.length === 0) throw new InvalidResponse("the subject is not confirmed for a bearer");
    for (const bearer of bearers) checkBearer(bearer, expected, tolerance);
  }

  /**
   * Asserts that it concerns the same user and issuer, and is fresh; it names neither us nor the request.
   * @throws {InvalidResponse}
   */
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
      this.#checkConditions(conditions, expected, toleranceOf(expected), false);
    }
  }

  #checkConditions(
    conditions: XmlElement,
    expected: Expectation,
    tolerance: number,
    needsAudience: boolean,
  ): void {
    checkPeriod(conditions, expected.now, tolerance);
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
      if (!audiences.some((audience) => isOurs(audience, expected))) {
        throw new InvalidResponse("the assertion is for another audience");
      }
    }
  }
}

/** Checks version, id and issue time. @throws {InvalidResponse} */
export function checkHead(element: XmlElement): void {
  element.requiredAttribute("ID");
  if (element.attribute("Version") !== "2.0") throw new InvalidResponse(`${element.name} is not of SAML 2.0`);
  parseInstant(element.requiredAttribute("IssueInstant"));
}

/** Reads an issuer. @throws {InvalidResponse} */
export function readIssuer(issuer: XmlElement): string {
  if ((issuer.attribute("Format") ?? NAME_FORMAT_ENTITY) !== NAME_FORMAT_ENTITY) {
    throw new InvalidResponse("the issuer is no entity");
  }
  if (issuer.text === "") throw new InvalidResponse("the issuer is empty");
  return issuer.text;
}

function checkBearer(confirmation: XmlElement, expected: Expectation, tolerance: number): void {
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
  checkPeriod(data, expected.now, tolerance);
}

function isOurs(audience: string, { identifiers, serverDn }: Expectation): boolean {
  return identifiers.includes(audience) || (serverDn !== undefined && sameName(audience, serverDn));
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

/** Checks `NotBefore` and `NotOnOrAfter` if present, with a tolerance in milliseconds. */
function checkPeriod(element: XmlElement, now: number, tolerance: number): void {
  const [from, until] = ["NotBefore", "NotOnOrAfter"].map((name) => element.attribute(name));
  if (from !== undefined && now + tolerance < parseInstant(from)) {
    throw new InvalidResponse(`${element.name} is not valid yet`);
  }
  if (until !== undefined && now - tolerance >= parseInstant(until)) {
    throw new InvalidResponse(`${element.name} is no longer valid`);
  }
}
