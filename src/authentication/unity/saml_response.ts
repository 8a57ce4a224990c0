import { checkIdentity, NoIdentity } from "../check_identity.ts";
import type { Variables } from "../expression/value.ts";
import { fillIdentityTemplate } from "../identity_template.ts";
import { Assertion, checkHead, type Expectation, readIssuer } from "./assertion.ts";
import { InvalidResponse } from "./invalid_response.ts";
import { ASSERTION, PROTOCOL, SIGNATURE, SOAP, SUCCESS } from "./saml_names.ts";
import { TimeSlicer } from "../../model/time_slicing.ts";
import { type SignedElement, type Signers, verifySignature } from "./signed_element.ts";
import { parseXml, type XmlElement } from "./xml_element.ts";

interface SamlIdentity {
  readonly dn: string;
  readonly attributes: Variables;
  readonly usableUntil: number; // milliseconds since the epoch; `Infinity` without an end
}

/** Trusted signers: of assertions in strict mode, and of everything else that is signed. */
interface TrustedSigners {
  readonly issuers: Signers;
  readonly anchored: Signers;
}

/**
 * Verifies a SOAP response (authentication.md 5.4). Exactly one assertion must authenticate; others may add
 * attributes of the same user, in strict mode signed by the same certificate. @throws {InvalidResponse}
 */
export async function readSamlResponse(
  text: string,
  expected: Expectation,
  signers: TrustedSigners,
): Promise<SamlIdentity> {
  const steps = new TimeSlicer();
  const response = findResponse(await parseXml(text));
  checkResponse(response, expected);
  if (response.all(SIGNATURE, "Signature").length > 0) {
    await verifySignature({ text, steps }, response, signers.anchored);
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
      const copy = await verifySignature(
        { text, steps },
        element,
        expected.strict ? signers.issuers : signers.anchored,
      );
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

/** Refuses nested and misplaced signatures. */
function checkSignatures(assertion: XmlElement): void {
  const inside = Array.from(assertion.tree()).filter((element) => element.is(SIGNATURE, "Signature"));
  if (inside.length > 1) throw new InvalidResponse("an assertion holds more than one signature");
  if (inside.length !== assertion.all(SIGNATURE, "Signature").length) {
    throw new InvalidResponse("an assertion holds a signature in another place");
  }
}

function combine(
  response: XmlElement,
  assertions: readonly Assertion[],
  expected: Expectation,
): SamlIdentity {
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
  try {
    return identityTemplate === undefined
      ? checkIdentity(text)
      : fillIdentityTemplate(identityTemplate, (name) => own.get(name) ?? attributes.get(name));
  } catch (error) {
    if (error instanceof NoIdentity) throw new InvalidResponse(error.message, { cause: error });
    throw error;
  }
}
