import type { X509Certificate } from "node:crypto";
import { BoundedMap } from "../model/bounded_map.ts";
import { certificateSubject } from "../model/certificate_subject.ts";
import { sameName } from "../model/distinguished_name.ts";
import { type Dated, findPath, nameOf, revokedOn } from "../model/trust/certificate_path.ts";
import { provesKey } from "../model/trust/proof_of_key.ts";
import type { Revocation } from "../model/trust/revocation.ts";
import { isValidAt } from "../model/trust/validity.ts";

/** What a daemon's certificate is held against. */
interface PeerCheck {
  /** Certificates the service trusts to name daemons, as PEM. */
  readonly anchors: readonly string[];
  /** What their authorities have revoked; absent: nobody asks. */
  readonly revocation?: Revocation;
  /** The only subject accepted, in any order-preserving spelling; absent: any that the anchors vouch for. */
  readonly expectedDn?: string;
  /** Whether a certificate will do that proves nothing: whoever has seen it can show it. */
  readonly allowUnverifiable?: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Our own check of a daemon's certificate after a handshake of `node:tls`, which compares no more than names where it
 * cannot read a certificate (daemon-protocol.md 1.3): the way to an anchor, the pinned name, and that the handshake was a
 * proof at all. Host names are not compared: the certificates of daemons carry role names.
 * @param sent The daemon's certificate, followed by whatever else it sent, in any order.
 * @returns What is wrong, as text for the operator; `undefined` if the daemon is who it should be.
 */
export function checkPeer(
  sent: readonly X509Certificate[],
  { anchors, revocation, expectedDn, allowUnverifiable = false, at }: PeerCheck,
): string | undefined {
  const [leaf] = sent;
  if (leaf === undefined) return "the daemon showed no certificate that can be read";
  try {
    const accepted = acceptedBy(anchors);
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
      return `the daemon's certificate is for ${nameOf(leaf)}, expected <${expectedDn}>`;
    }
    if (!proven) return unverifiable(leaf);
    accepted.set(shown, way);
    return undefined;
  } catch (error) {
    return `the daemon's certificate cannot be checked: ${error instanceof Error ? error.message : error}`;
  }
}

/** What is wrong with a certificate behind which nobody can be recognised, and what to do about it. */
function unverifiable(leaf: X509Certificate): string {
  return `the certificate of ${
    nameOf(leaf)
  } is of X.509 version 1, or not encoded by the book: a TLS handshake with it ` +
    "proves nothing: anyone who has seen it could impersonate the daemon. Issue one of version 3: " +
    "openssl x509 -req -in daemon.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 730 -sha256 " +
    "-extfile <(echo basicConstraints=critical,CA:FALSE) -out daemon.pem. " +
    "Until then, authservice.server.<name>.allowUnverifiableCertificate=true accepts it as it is";
}

/**
 * Ways from what a daemon showed to an anchor: daemons show the same with every connection, and but for the date the
 * outcome never changes.
 */
type Accepted = BoundedMap<string, readonly Dated[]>;

const ACCEPTED = new WeakMap<readonly string[], Accepted>();

function acceptedBy(anchors: readonly string[]): Accepted {
  const known = ACCEPTED.get(anchors);
  if (known !== undefined) return known;
  const none: Accepted = new BoundedMap(256);
  ACCEPTED.set(anchors, none);
  return none;
}
