import { ASSERTION, NAME_FORMAT_ENTITY, PROTOCOL, SOAP } from "./saml_names.ts";

/** Builds the unsigned SOAP request (authentication.md 5.4). @param id 128 random bits as an XML name. */
export function authnRequest(id: string, { url, nameIdFormat, at }: {
  readonly url: string;
  readonly nameIdFormat: string;
  readonly at: number;
}): string {
  const instant = new Date(at).toISOString().replace(/\.[0-9]+Z$/, "Z");
  const here = escapeXml(url);
  return `<soap:Envelope xmlns:soap="${SOAP}"><soap:Body>` +
    `<samlp:AuthnRequest xmlns:samlp="${PROTOCOL}" ID="${
      escapeXml(id)
    }" Version="2.0" IssueInstant="${instant}"` +
    ` AssertionConsumerServiceURL="${here}">` +
    `<saml:Issuer xmlns:saml="${ASSERTION}" Format="${NAME_FORMAT_ENTITY}">${here}</saml:Issuer>` +
    `<samlp:NameIDPolicy Format="${nameIdFormat}" AllowCreate="true"/>` +
    `</samlp:AuthnRequest></soap:Body></soap:Envelope>`;
}

const REFERENCES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => REFERENCES[sign] ?? sign);
}
