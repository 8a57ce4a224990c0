/** Namespaces and identifiers of SOAP 1.1, SAML 2.0 and XML signatures (credentials.md 5.4). */
export const SOAP = "http://schemas.xmlsoap.org/soap/envelope/";
export const PROTOCOL = "urn:oasis:names:tc:SAML:2.0:protocol";
export const ASSERTION = "urn:oasis:names:tc:SAML:2.0:assertion";
export const SIGNATURE = "http://www.w3.org/2000/09/xmldsig#";

/** Name formats and other exact identifiers. */
export const NAME_FORMAT_UNSPECIFIED = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified";
export const NAME_FORMAT_ENTITY = "urn:oasis:names:tc:SAML:2.0:nameid-format:entity";
export const BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer";
export const SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success";

/** The only transforms allowed in a signature. */
export const EXCLUSIVE_C14N = "http://www.w3.org/2001/10/xml-exc-c14n#";
export const ENVELOPED = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";

/** Name formats by the last part of their identifier (saml-core-2.0-os 8.3). */
export const NAME_ID_FORMATS = {
  X509SubjectName: "urn:oasis:names:tc:SAML:1.1:nameid-format:X509SubjectName",
  persistent: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
  emailAddress: "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
  unspecified: NAME_FORMAT_UNSPECIFIED,
} as const;

/** Error for an untrustworthy response of the provider, for the log. */
export class InvalidResponse extends Error {}
