import type { X509Certificate } from "node:crypto";
import { BoundedMap } from "../model/bounded_map.ts";
import { certificateSubject } from "../model/certificate_subject.ts";
import { sameName } from "../model/distinguished_name.ts";
import { type Dated, findPath, nameOf, revokedOn } from "../model/trust/certificate_path.ts";
import { provesKey } from "../model/trust/proof_of_key.ts";
import type { Revocation } from "../model/trust/revocation.ts";
import { isValidAt } from "../model/trust/certificate_facts.ts";
import { messageOf } from "../model/text.ts";

interface PeerCheck {
  readonly anchors: readonly string[]; // anchors for daemons, PEM
  readonly revocation?: Revocation; // absent: no revocation check
  readonly expectedDn?: string; // required subject in any spelling; absent: any trusted one
  readonly allowUnverifiable?: boolean; // whether to accept a certificate without proof of its key
  readonly at: number; // milliseconds since the epoch
}

/**
 * Checks a daemon's certificate after a `node:tls` handshake, which does not verify unreadable certificates
 * (daemon-protocol.md 1.3): path, pinned name, proof of the key. Certificates carry role names, no host names.
 * @returns The problem for the operator; `undefined` if valid.
 */
export function checkPeer(
  sent: readonly X509Certificate[],
  { anchors, revocation, expectedDn, allowUnverifiable = false, at }: PeerCheck,
): string | undefined {
  const [leaf] = sent;
  if (leaf === undefined) return "the daemon showed no certificate that can be read";
  try {
    const accepted = ACCEPTED.getOrInsertComputed(anchors, () => new BoundedMap(256));
    const shown = `${expectedDn ?? ""}\n${sent.map(({ raw }) => raw.toString("latin1")).join("\n")}`;
    const known = accepted.get(shown);
    const proven = allowUnverifiable || provesKey(leaf);
    if (
      proven && known !== undefined && known.every((certificate) => isValidAt(certificate, at)) &&
      revokedOn(known, revocation, at) === undefined
    ) {
      return undefined;
    }
    const way = findPath(sent, { anchors, purpose: "serverAuth", revocation, at });
    if (typeof way === "string") return way;
    if (expectedDn !== undefined && !sameName(certificateSubject(leaf), expectedDn)) {
      return `the daemon's certificate is for <${certificateSubject(leaf)}>, expected <${expectedDn}>`;
    }
    if (!proven) return unverifiable(leaf);
    accepted.set(shown, way);
    return undefined;
  } catch (error) {
    return `the daemon's certificate cannot be checked: ${messageOf(error)}`;
  }
}

function unverifiable(leaf: X509Certificate): string {
  return `the certificate of ${
    nameOf(leaf)
  } is of X.509 version 1, or not valid DER: a TLS handshake with it ` +
    "proves nothing: anyone who has seen it could impersonate the daemon. Issue one of version 3: " +
    "openssl x509 -req -in daemon.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 730 -sha256 " +
    "-extfile <(echo basicConstraints=critical,CA:FALSE) -out daemon.pem. " +
    "Until then, authservice.server.<name>.allowUnverifiableCertificate=true accepts it as it is";
}

/** Cached paths: a daemon always presents the same chain, and only the date matters later. */
const ACCEPTED = new WeakMap<readonly string[], BoundedMap<string, readonly Dated[]>>();
