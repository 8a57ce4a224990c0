import { Buffer } from "node:buffer";
import { createPrivateKey, sign, X509Certificate } from "node:crypto";
import type { SignedXml } from "xml-crypto";
import type { Credential } from "../pki/authority.ts";

/** Content of a test response; all defaults are valid. */
export interface ResponseOptions {
  /** `ID` of the request. */
  readonly requestId: string;
  /** URL of the service. */
  readonly url: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly nameId?: string;
  readonly attributes?: Readonly<Record<string, readonly string[]>>;
  /** Changes the assertion before it is signed. */
  readonly edit?: (assertion: string) => string;
  /** Changes the whole message after it is signed. */
  readonly tamper?: (message: string) => string;
  /** Signs the assertion; default: with the provider's key. */
  readonly sign?: (assertion: string) => Promise<string>;
  /** More XML within the response, after the assertion. */
  readonly more?: string;
}

/** Options of a signature; the defaults are those of a good provider. */
export interface SigningOptions {
  readonly signer: Credential;
  readonly method?: string;
  readonly digest?: string;
  readonly transforms?: readonly string[];
  readonly canonicalization?: string;
  /** Certificate in `KeyInfo`, if it is not the signer's. */
  readonly shown?: string;
  /** Element to sign, by its `ID`; default the first `ID` in the text. */
  readonly id?: string;
  readonly inclusivePrefixes?: readonly string[];
}

const PROTOCOL = "urn:oasis:names:tc:SAML:2.0:protocol";
const ASSERTION = "urn:oasis:names:tc:SAML:2.0:assertion";
const ENTITY = "urn:oasis:names:tc:SAML:2.0:nameid-format:entity";
export const RSA_SHA256 = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
/** Algorithms of Unity, which has no setting for others (samly2 3.2.0, `DigSignatureUtil`). */
export const SHA1_OF_UNITY = {
  method: "http://www.w3.org/2000/09/xmldsig#rsa-sha1",
  digest: "http://www.w3.org/2000/09/xmldsig#sha1",
};
export const EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#";
export const ENVELOPED = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";
const ISSUER = `<saml:Issuer Format="${ENTITY}">https://unity.site-a.example:2443/idp</saml:Issuer>`;

export const instant = (at: number) => new Date(at).toISOString();
export const after = (seconds: number, { now }: { now: number }) => instant(now + seconds * 1000);

/** Returns an unsigned assertion that a user has authenticated, with attributes. */
export function authnAssertion(options: ResponseOptions, id = "_a9001"): string {
  const { requestId, url, nameId = "CN=Ann Example,O=Site-A,C=DE" } = options;
  return `<saml:Assertion xmlns:saml="${ASSERTION}" ID="${id}" Version="2.0" IssueInstant="${
    after(0, options)
  }">` +
    ISSUER +
    `<saml:Subject><saml:NameID Format="urn:oasis:names:tc:SAML:1.1:nameid-format:X509SubjectName">${nameId}</saml:NameID>` +
    `<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer">` +
    `<saml:SubjectConfirmationData Recipient="${url}" NotOnOrAfter="${
      after(600, options)
    }" InResponseTo="${requestId}"/>` +
    `</saml:SubjectConfirmation></saml:Subject>` +
    `<saml:Conditions NotBefore="${after(-60, options)}" NotOnOrAfter="${after(600, options)}">` +
    `<saml:AudienceRestriction><saml:Audience>${url}</saml:Audience></saml:AudienceRestriction></saml:Conditions>` +
    `<saml:AuthnStatement AuthnInstant="${
      after(0, options)
    }"><saml:AuthnContext><saml:AuthnContextClassRef>` +
    `urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>` +
    attributeStatement(options.attributes ?? { preferredUsername: ["ann"], memberOf: ["hpc", "lab2"] }) +
    `</saml:Assertion>`;
}

/** Returns an assertion with attributes only, which Unity sends in addition if configured to. */
export function attributeAssertion(
  options: ResponseOptions,
  attributes: Readonly<Record<string, readonly string[]>>,
  id = "_b9001",
): string {
  const { nameId = "CN=Ann Example,O=Site-A,C=DE" } = options;
  return `<saml:Assertion xmlns:saml="${ASSERTION}" ID="${id}" Version="2.0" IssueInstant="${
    after(0, options)
  }">` +
    ISSUER +
    `<saml:Subject><saml:NameID Format="urn:oasis:names:tc:SAML:1.1:nameid-format:X509SubjectName">${nameId}</saml:NameID>` +
    `<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:sender-vouches"/></saml:Subject>` +
    attributeStatement(attributes) + `</saml:Assertion>`;
}

function attributeStatement(attributes: Readonly<Record<string, readonly string[]>>): string {
  const parts = Object.entries(attributes).map(([name, values]) =>
    `<saml:Attribute Name="${name}">${
      values.map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`).join("")
    }</saml:Attribute>`
  );
  return parts.length === 0 ? "" : `<saml:AttributeStatement>${parts.join("")}</saml:AttributeStatement>`;
}

/** Returns the whole SOAP message of a provider. */
export async function samlMessage(options: ResponseOptions, signer: Credential): Promise<string> {
  const assertion = (options.edit ?? ((text) => text))(authnAssertion(options));
  const signed = await (options.sign ?? ((text) => signElement(text, { signer })))(assertion);
  return (options.tamper ?? ((text) => text))(
    soapEnvelope(samlResponse(options, signed + (options.more ?? ""))),
  );
}

export function samlResponse(options: ResponseOptions, content: string): string {
  return `<samlp:Response xmlns:samlp="${PROTOCOL}" xmlns:saml="${ASSERTION}" ID="_r5501" Version="2.0"` +
    ` IssueInstant="${after(0, options)}" InResponseTo="${options.requestId}">${ISSUER}` +
    `<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>` +
    `${content}</samlp:Response>`;
}

export function soapEnvelope(content: string): string {
  return `<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>${content}</soap:Body></soap:Envelope>`;
}

/** Adds an enveloped signature after the issuer of an element. */
export async function signElement(xml: string, options: SigningOptions): Promise<string> {
  const { SignedXml } = await import("xml-crypto");
  const { signer, method = RSA_SHA256, digest = "http://www.w3.org/2001/04/xmlenc#sha256" } = options;
  const id = options.id ?? /\bID="([^"]*)"/.exec(xml)?.[1] ?? "";
  const signature: SignedXml = new SignedXml({
    privateKey: signer.key,
    publicCert: options.shown ?? signer.certificate,
  });
  Reflect.set(signature, "signatureAlgorithm", method);
  Reflect.set(signature, "canonicalizationAlgorithm", options.canonicalization ?? EXCLUSIVE);
  Object.assign(signature.SignatureAlgorithms, ecdsaAlgorithms());
  if (method.endsWith("hmac-sha1")) signature.enableHMAC();
  signature.addReference({
    xpath: `//*[@ID='${id}']`,
    transforms: [...(options.transforms ?? [ENVELOPED, EXCLUSIVE])],
    digestAlgorithm: digest,
    inclusiveNamespacesPrefixList: [...(options.inclusivePrefixes ?? [])],
  });
  signature.computeSignature(xml, {
    prefix: "ds",
    location: { reference: `//*[@ID='${id}']/*[local-name(.)='Issuer']`, action: "after" },
  });
  return signature.getSignedXml();
}

/** Returns the ECDSA algorithms of XML signatures, which the library leaves to its users. */
function ecdsaAlgorithms() {
  return Object.fromEntries(["sha256", "sha384", "sha512"].map((hash) => {
    const uri = `http://www.w3.org/2001/04/xmldsig-more#ecdsa-${hash}`;
    return [
      uri,
      class {
        getAlgorithmName = () => uri;
        verifySignature = () => false;
        getSignature = (info: string, key: string) =>
          sign(hash, Buffer.from(info), { key: createPrivateKey(key), dsaEncoding: "ieee-p1363" }).toString(
            "base64",
          );
      },
    ];
  }));
}

/** Returns a certificate in the form of `KeyInfo`. */
export function certificateText(pem: string): string {
  return new X509Certificate(pem).raw.toString("base64");
}
