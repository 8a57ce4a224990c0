/** Certificates and revocation lists, as PEM or DER. */
import { Buffer } from "node:buffer";
import { X509Certificate } from "node:crypto";
import { certificatesOfPem, UnusableStore } from "../../src/config/tls/certificates.ts";
import { certificateSubject } from "../../src/model/certificate_subject.ts";
import { type DerElement, InvalidDer, readElement } from "../../src/model/der_element.ts";
import { certificateFacts } from "../../src/model/trust/certificate_facts.ts";
import { readRevocationList } from "../../src/model/trust/revocation.ts";
import { createAuthority } from "../pki/authority.ts";
import { fuzz } from "./fuzz.ts";
import { hostileBytes, hostileText } from "./hostile_text.ts";
import { asItIs, DER_FORMS, FILE, latin1 } from "./shapes.ts";

const authority = createAuthority({ subject: "CN=Site CA" });
const { certificate } = authority.issue({ subject: "CN=Ann Example+OU=Lab, O=Site, C=DE" });
const { raw } = new X509Certificate(certificate);
const LIST = Buffer.from(authority.revoke([certificate]).replace(/-----[^-]+-----/g, ""), "base64");

/** Reads an element in every way, and the elements in it. */
function walk(element: DerElement): void {
  for (const ask of [() => element.objectId(), () => element.integer(), () => element.octets()]) {
    try {
      ask();
    } catch (error) {
      if (!(error instanceof InvalidDer)) throw error;
    }
  }
  if ((element.tag & 0x20) !== 0) element.children();
  element.hasShortestLength();
}

const BLOCK = "-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n";
fuzz({
  name: "certificatesOfPem()",
  input: hostileText(`# ours\n${certificate}${certificate}`),
  parse: certificatesOfPem,
  throws: [UnusableStore],
  growth: { longest: FILE, forms: ["…", BLOCK, `${BLOCK}…`], input: asItIs },
});
fuzz({
  name: "readElement(), DerElement",
  input: hostileBytes(raw),
  parse: (bytes) => walk(readElement(bytes)),
  throws: [InvalidDer],
  growth: { longest: FILE, forms: DER_FORMS, input: latin1 },
});
fuzz({
  name: "certificateFacts() and certificateSubject()",
  input: hostileBytes(raw),
  parse: (bytes) => {
    let readable: X509Certificate;
    try {
      readable = new X509Certificate(bytes);
    } catch {
      return; // the TLS library does not accept it either
    }
    try {
      certificateFacts(readable);
      certificateSubject(readable);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // the error that both promise; few inputs get this far
    }
  },
  growth: { longest: FILE, forms: DER_FORMS, input: latin1 },
});
fuzz({
  name: "readRevocationList()",
  input: hostileBytes(LIST),
  parse: readRevocationList,
  throws: [TypeError],
  growth: { longest: FILE, forms: DER_FORMS, input: latin1 },
});
