import { Buffer } from "node:buffer";
import { createHash, type KeyObject, verify, type X509Certificate } from "node:crypto";
import { algorithmsOf, USABLE_KEYS, usableKeyOf } from "../../model/trust/certificate_facts.ts";
import type { TimeSlicer } from "../../model/time_slicing.ts";
import { ENVELOPED, EXCLUSIVE_C14N, InvalidResponse, SIGNATURE } from "./saml_names.ts";
import { parseXml, type XmlElement } from "./xml_element.ts";

/** Finds the presented certificate among the trusted signers. */
export type Signers = (der: Uint8Array) => X509Certificate | undefined;

export interface SignedElement {
  readonly element: XmlElement; // parsed from the signed bytes, without the signature
  readonly signer: X509Certificate;
}

const TRANSFORMS: ReadonlySet<string> = new Set([ENVELOPED, EXCLUSIVE_C14N]);

/**
 * Verifies an enveloped signature (credentials.md 5.4). Its form is checked before the signature library
 * runs. Later code reads only the signed bytes. @throws {InvalidResponse}
 */
export async function verifySignature(
  { text, steps, onSha1 }: { readonly text: string; readonly steps: TimeSlicer; readonly onSha1: () => void },
  element: XmlElement,
  signers: Signers,
): Promise<SignedElement> {
  const id = element.requiredAttribute("ID");
  if (!/^[A-Za-z_][A-Za-z0-9_.-]*$/.test(id)) {
    throw new InvalidResponse(`${element.name} has an ID that is none`);
  }
  const signature = element.one(SIGNATURE, "Signature");
  const method = checkForm(signature, id, onSha1);
  const signer = findSigner(signature, signers);
  if (usableKeyOf(signer) === undefined) {
    throw new InvalidResponse(`the signer's key cannot be used: expected ${USABLE_KEYS}`);
  }
  if (!mayUse(signer, method)) throw new InvalidResponse("the signer's key is too weak, or of another kind");

  const { SignedXml } = await import("xml-crypto");
  const verifier = new SignedXml({ publicCert: signer.publicKey, getCertFromKeyInfo: () => null });
  // Each further name would cost several searches of the whole message.
  verifier.idAttributes = ["ID"];
  verifier.CanonicalizationAlgorithms = Object.fromEntries(
    Object.entries(verifier.CanonicalizationAlgorithms).filter(([uri]) => TRANSFORMS.has(uri)),
  );
  verifier.HashAlgorithms = digestClasses();
  verifier.SignatureAlgorithms = { [method.uri]: signatureClass(method.uri, method, signer.publicKey) };
  let signed: readonly string[];
  if (steps.shouldYield) await steps.yield();
  try {
    verifier.loadSignature(signature.node);
    signed = verifier.checkSignature(text) ? verifier.getSignedReferences() : [];
  } catch (error) {
    throw new InvalidResponse(`the signature of ${element.name} does not verify`, { cause: error });
  }
  const [bytes] = signed;
  if (bytes === undefined || signed.length !== 1) {
    throw new InvalidResponse(`the signature of ${element.name} does not verify`);
  }
  if (steps.shouldYield) await steps.yield();
  const copy = await parseXml(bytes);
  if (steps.shouldYield) await steps.yield();
  if (!copy.is(element.namespace, element.name) || copy.attribute("ID") !== id) {
    throw new InvalidResponse("what is signed is something else");
  }
  return { element: copy, signer };
}

/** Asserts the accepted form of a signature and returns its method. */
function checkForm(signature: XmlElement, id: string, onSha1: () => void) {
  const [info] = children(signature, ["SignedInfo", "SignatureValue", "KeyInfo"]);
  const [c14n, signatureMethod, reference] = children(info, [
    "CanonicalizationMethod",
    "SignatureMethod",
    "Reference",
  ]);
  if (c14n?.attribute("Algorithm") !== EXCLUSIVE_C14N || c14n.children.length > 0) {
    throw new InvalidResponse("the signature is not canonicalized exclusively");
  }
  const uri = signatureMethod?.attribute("Algorithm") ?? "";
  const method = SIGNATURE_METHODS.get(uri);
  if (method === undefined || signatureMethod?.children.length !== 0) {
    throw new InvalidResponse(`the signature method ${uri} is not accepted`);
  }
  if (reference?.attribute("URI") !== `#${id}`) {
    throw new InvalidResponse("the signature does not refer to the element that holds it");
  }
  const [transforms, digestMethod] = children(reference, ["Transforms", "DigestMethod", "DigestValue"]);
  const digest = digestMethod?.attribute("Algorithm") ?? "";
  if (!DIGEST_METHODS.has(digest) || digestMethod?.children.length !== 0) {
    throw new InvalidResponse(`the digest method ${digest} is not accepted`);
  }
  if ([method.hash, DIGEST_METHODS.get(digest)].includes("sha1")) onSha1();
  const [enveloped, exclusive] = children(transforms, ["Transform", "Transform"]);
  const inOrder = enveloped?.attribute("Algorithm") === ENVELOPED && enveloped.children.length === 0 &&
    exclusive?.attribute("Algorithm") === EXCLUSIVE_C14N && exclusive.children.every(isPrefixList) &&
    exclusive.children.length <= 1;
  if (!inOrder) throw new InvalidResponse("the signature has transforms that are not accepted");
  return { uri, ...method };
}

const MOST_PREFIXES = 16; // prefixes per list; each costs a search per element

/** Reports whether a prefix list (xml-exc-c14n 2.1) is acceptable; the library lacks `#default`. */
function isPrefixList(element: XmlElement): boolean {
  const prefixes = element.attribute("PrefixList")?.split(" ") ?? [];
  return element.is(EXCLUSIVE_C14N, "InclusiveNamespaces") && element.children.length === 0 &&
    prefixes.length > 0 && prefixes.length <= MOST_PREFIXES &&
    prefixes.every((prefix) => /^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/.test(prefix));
}

/** Returns the children. @throws {InvalidResponse} Unless they have exactly these names in order. */
function children(parent: XmlElement | undefined, names: readonly string[]): readonly XmlElement[] {
  const found = parent?.children ?? [];
  const asNamed = found.length === names.length &&
    found.every((child, at) => child.is(SIGNATURE, names[at] ?? ""));
  if (!asNamed) throw new InvalidResponse(`the signature has not exactly: ${names.join(", ")}`);
  return found;
}

function findSigner(signature: XmlElement, signers: Signers): X509Certificate {
  for (const element of signature.one(SIGNATURE, "KeyInfo").tree()) {
    if (!element.is(SIGNATURE, "X509Certificate")) continue;
    const signer = signers(Buffer.from(element.text, "base64"));
    if (signer === undefined) break;
    return signer;
  }
  throw new InvalidResponse("the signer's certificate is not among the trusted ones, or not valid now");
}

interface SignatureMethod {
  readonly keyType: "rsa" | "ec";
  readonly hash: "sha1" | "sha256" | "sha384" | "sha512";
}

/** Accepted methods: RSA (PKCS#1 v1.5) and ECDSA; no DSA or HMAC. Unity can only sign by `rsa-sha1` (samly2 3.2.0). */
const SIGNATURE_METHODS: ReadonlyMap<string, SignatureMethod> = new Map([
  [`${SIGNATURE}rsa-sha1`, { keyType: "rsa", hash: "sha1" }],
  ["http://www.w3.org/2001/04/xmldsig-more#rsa-sha256", { keyType: "rsa", hash: "sha256" }],
  ["http://www.w3.org/2001/04/xmldsig-more#rsa-sha384", { keyType: "rsa", hash: "sha384" }],
  ["http://www.w3.org/2001/04/xmldsig-more#rsa-sha512", { keyType: "rsa", hash: "sha512" }],
  ["http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256", { keyType: "ec", hash: "sha256" }],
  ["http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384", { keyType: "ec", hash: "sha384" }],
  ["http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512", { keyType: "ec", hash: "sha512" }],
]);

const DIGEST_METHODS: ReadonlyMap<string, SignatureMethod["hash"]> = new Map([
  [`${SIGNATURE}sha1`, "sha1"],
  ["http://www.w3.org/2001/04/xmlenc#sha256", "sha256"],
  ["http://www.w3.org/2001/04/xmldsig-more#sha384", "sha384"],
  ["http://www.w3.org/2001/04/xmlenc#sha512", "sha512"],
]);

/** Reports whether a certificate's key fits a method. */
export function mayUse(certificate: X509Certificate, { keyType }: SignatureMethod): boolean {
  const key = usableKeyOf(certificate);
  return key?.asymmetricKeyType === keyType && algorithmsOf(key).length > 0;
}

function digestClasses() {
  return Object.fromEntries(
    Array.from(DIGEST_METHODS, ([uri, hash]) => [
      uri,
      class {
        getAlgorithmName = () => uri;
        getHash = (xml: string) => createHash(hash).update(xml, "utf8").digest("base64");
      },
    ]),
  );
}

/** Returns a verify-only class for the signature library, bound to one key. */
function signatureClass(uri: string, { keyType, hash }: SignatureMethod, publicKey: KeyObject) {
  return class {
    getAlgorithmName = () => uri;
    getSignature = (): string => {
      throw new TypeError("signatures are verified here, not made");
    };
    verifySignature = (material: string, _key: unknown, value: string): boolean => {
      const signature = Buffer.from(value, "base64");
      // XML signatures concatenate r and s (RFC 9231 section 2.3.6) instead of DER.
      const key = keyType === "rsa" ? publicKey : { key: publicKey, dsaEncoding: "ieee-p1363" as const };
      return verify(hash, Buffer.from(material, "utf8"), key, signature);
    };
  };
}
