/**
 * x509-limbo's chains of certificates over real connections: our outgoing client verifies those of servers,
 * our edge those of clients. `X509_LIMBO` is `limbo.json` of a checkout or the folder with it; no package
 * registry has it.
 */
import assert from "node:assert/strict";
import { disableDefaultTrust } from "../../src/outgoing/exclusive_trust.ts";
import { lacking } from "./lacking.ts";
import { readLimbo } from "./limbo_cases.ts";
import { isBelieved, KeyOfNoUse, untriable } from "./limbo_trial.ts";

const PART = "x509-limbo";

/**
 * Cases with another result than expected, and the reason. None of them admits a peer without a certificate
 * of a trusted authority, or under a name that its certificate does not have.
 */
const OTHERWISE: ReadonlyMap<string, string> = new Map([
  ...because("refused, though valid: webpki takes no authority's certificate for a server's", [
    "pathlen::validation-ignores-pathlen-in-leaf",
    "rfc5280::ca-as-leaf",
  ]),
  ...because("refused, though valid: webpki makes no exception for self-issued certificates", [
    "pathlen::self-issued-certs-pathlen",
    "rfc5280::nc::permitted-self-issued",
  ]),
  ...because("refused, though valid: webpki refuses constraints of names that it does not evaluate", [
    "rfc5280::nc::permitted-dn-match",
    "rfc5280::nc::nc-permits-email-exact",
    "rfc5280::nc::nc-permits-email-domain",
    "rfc5280::nc::nc-permits-email-literal-asterisk-exact-match",
    "rfc5280::nc::nc-permits-email-literal-double-asterisk",
    "rfc5280::nc::nc-permits-email-literal-mid-asterisk",
  ]),
  ...because("accepted: identifiers of keys only help to find issuers, signatures decide", [
    "rfc5280::aki::critical-aki",
    "rfc5280::aki::leaf-missing-aki",
    "rfc5280::aki::intermediate-missing-aki",
    "rfc5280::aki::cross-signed-root-missing-aki",
    "rfc5280::ski::critical-ski",
    "rfc5280::ski::root-missing-ski",
    "rfc5280::ski::intermediate-missing-ski",
    "webpki::aki::root-with-aki-missing-keyidentifier",
    "webpki::aki::root-with-aki-authoritycertissuer",
    "webpki::aki::root-with-aki-authoritycertserialnumber",
    "webpki::aki::root-with-aki-all-fields",
    "webpki::aki::root-with-aki-ski-mismatch",
  ]),
  ...because(
    "accepted: what the operator trusts is a name and a key (RFC 5280, 6.1.1); what else it says is not asked",
    [
      "rfc5280::unknown-critical-extension-root",
      "rfc5280::root-non-critical-basic-constraints",
      "rfc5280::ca-empty-subject",
      "webpki::eku::root-has-eku",
      "webpki::forbidden-rsa-not-divisible-by-8-in-root",
    ],
  ),
  ...because(
    "accepted: constraints are obeyed whether they are marked as critical or not, and empty ones constrain nothing",
    [
      "rfc5280::nc::permitted-dns-match-noncritical",
      "rfc5280::nc::invalid-dnsname-leading-period",
      "webpki::nc::intermediate-permitted-excluded-subtrees-both-null",
      "webpki::nc::intermediate-permitted-excluded-subtrees-both-empty-sequences",
    ],
  ),
  ...because("accepted: a right to issue that an end entity claims gives it none", [
    "rfc5280::nc::not-allowed-in-ee-noncritical",
    "rfc5280::nc::not-allowed-in-ee-critical",
    "rfc5280::leaf-ku-keycertsign",
  ]),
  ...because("accepted: the alternative name counts and fits, the common name is not looked at", [
    "webpki::cn::ipv4-hex-mismatch",
    "webpki::cn::ipv4-leading-zeros-mismatch",
    "webpki::cn::ipv6-uppercase-mismatch",
    "webpki::cn::ipv6-uncompressed-mismatch",
    "webpki::cn::ipv6-non-rfc5952-mismatch",
    "webpki::cn::punycode-not-in-san",
    "webpki::cn::utf8-vs-punycode-mismatch",
    "webpki::cn::not-in-san",
    "webpki::cn::case-mismatch",
  ]),
  ...because("accepted: rules for public authorities, of purposes, forms of names and numbers", [
    "rfc5280::pc::ica-noncritical-pc",
    "rfc5280::san::noncritical-with-empty-subject",
    "rfc5280::san::underscore-dns",
    "rfc5280::serial::too-long",
    "rfc5280::serial::zero",
    "webpki::eku::ee-anyeku",
    "webpki::eku::ee-critical-eku",
    "webpki::eku::ee-without-eku",
    "webpki::san::public-suffix-multi-label-wildcard-san",
    "webpki::san::public-suffix-private-namespace-wildcard-san",
    "webpki::san::san-critical-with-nonempty-subject",
    "webpki::malformed-aia",
    "webpki::forbidden-rsa-key-not-divisible-by-8-in-leaf",
  ]),
]);

function because(reason: string, ids: readonly string[]): [string, string][] {
  return ids.map((id) => [id, reason]);
}

const place = Deno.env.get("X509_LIMBO");
if (place === undefined) lacking(PART, "set X509_LIMBO to limbo.json of a checkout, or to its folder");
else {
  disableDefaultTrust(Deno.env);
  const { isDirectory } = await Deno.stat(place);
  const cases = readLimbo(await Deno.readTextFile(isDirectory ? `${place}/limbo.json` : place));
  for (const kind of ["SERVER", "CLIENT"] as const) {
    Deno.test(`${PART}: certificates, ${kind}`, async () => {
      const wrong: string[] = [];
      const left = new Map<string, number>();
      let judged = 0;
      for (const limbo of cases.filter((one) => one.kind === kind)) {
        const outcome = untriable(limbo) ?? await isBelieved(limbo).catch(keyOfNoUse);
        if (typeof outcome === "string") left.set(outcome, (left.get(outcome) ?? 0) + 1);
        else {
          judged++;
          const expected = OTHERWISE.has(limbo.id) ? !limbo.accepted : limbo.accepted;
          if (outcome !== expected) wrong.push(`${limbo.id} ${outcome ? "believed" : "refused"}`);
        }
      }
      for (const [reason, count] of left) console.log(`${PART}: ${count} not tried, ${reason}`);
      assert.deepEqual(wrong, []);
      assert(judged > 0, "some were judged");
    });
  }
}

function keyOfNoUse(error: unknown): string {
  if (error instanceof KeyOfNoUse) return "no server here can use the key";
  throw error;
}
