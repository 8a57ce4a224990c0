import { addressInRange, canonicalAddress, isAddressRange } from "../../../model/address.ts";
import { matchesWildcards } from "../../../model/wildcards.ts";
import { type CertificateAuthority, mayComeFrom } from "../authorized_keys.ts";
import type { RevokedKeys } from "./revoked_keys.ts";
import type { UserCertificate } from "./user_certificate.ts";

/** Extension with the site of a certificate (EuroHPC federation). */
const DOMAIN_GRANT = "ssh-domain-grant@core.aai.geant.org";

interface Circumstances {
  readonly authorities: ReadonlyMap<string, CertificateAuthority>;
  readonly revoked: RevokedKeys | undefined;
  readonly now: number;
  readonly clientAddress?: string | undefined; // absent: the certificate is not being used
}

export type CertificateResult =
  | { readonly kind: "valid"; readonly principals: readonly string[] }
  | { readonly kind: "refused"; readonly reason: string };

/** Verifies a certificate like sshd (auth2-pubkey.c, sshkey_cert_check_authority), plus the operator's conditions. */
export function verifyCertificate(
  certificate: UserCertificate,
  circumstances: Circumstances,
): CertificateResult {
  const authority = circumstances.authorities.get(certificate.authority.fingerprint);
  if (authority === undefined) return refused("its authority is not among those that are trusted");
  const reason = validityError(certificate, circumstances) ?? conditionNotMet(certificate, authority) ??
    wrongSource(certificate, authority, circumstances.clientAddress);
  if (reason !== undefined) return refused(reason);
  const principals = admittedPrincipals(certificate, authority);
  if (principals.length === 0) return refused("its authority may certify none of its principals");
  return { kind: "valid", principals };
}

function refused(reason: string) {
  return { kind: "refused", reason } as const;
}

function validityError(certificate: UserCertificate, { revoked, now }: Circumstances): string | undefined {
  if (revoked?.revokes(certificate)) return "it was revoked";
  if (now < certificate.validAfter) return "it is not valid yet";
  if (now >= certificate.validBefore) return "it has ended";
  for (const name of certificate.criticalOptions.keys()) {
    if (name !== SOURCE_ADDRESS) {
      return REFUSED_OPTIONS.get(name) ?? "it has a critical option that is not known here";
    }
  }
  return undefined;
}

const SOURCE_ADDRESS = "source-address";
const REFUSED_OPTIONS: ReadonlyMap<string, string> = new Map([
  ["force-command", "it may run only one command"],
  ["verify-required", "it asks for a PIN that is not seen here"],
]);

function conditionNotMet(
  { validAfter, validBefore, extensions }: UserCertificate,
  { domain, maxLifetime }: CertificateAuthority,
): string | undefined {
  if (maxLifetime !== undefined && validBefore - validAfter > maxLifetime) {
    return "it lives longer than it may";
  }
  if (domain === undefined) return undefined;
  const granted = extensions.get(DOMAIN_GRANT);
  if (granted === undefined) return "it does not say for which domain it was made";
  return granted.toLowerCase() === domain ? undefined : "it was made for another domain";
}

function wrongSource(
  { criticalOptions }: UserCertificate,
  { from }: CertificateAuthority,
  address: string | undefined,
): string | undefined {
  const ranges = criticalOptions.get(SOURCE_ADDRESS)?.split(",");
  if (ranges !== undefined && !ranges.every(isAddressRange)) return "its source addresses cannot be read";
  if (address === undefined) return undefined;
  const canonical = canonicalAddress(address) ?? "";
  const isThere = ranges === undefined || ranges.some((range) => addressInRange(canonical, range));
  return isThere && (from === undefined || mayComeFrom(from, address))
    ? undefined
    : "it may not be used from there";
}

function admittedPrincipals(
  { principals }: UserCertificate,
  { principals: patterns }: CertificateAuthority,
): readonly string[] {
  if (patterns === undefined) return principals;
  const matching = (name: string, negated: boolean) =>
    patterns.some((pattern) =>
      pattern.startsWith("!") === negated && matchesWildcards(name, negated ? pattern.slice(1) : pattern)
    );
  return principals.filter((name) => matching(name, false) && !matching(name, true));
}
