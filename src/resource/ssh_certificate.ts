import type { CertificateStore } from "../authentication/authenticator.ts";
import type { UserCertificate } from "../authentication/ssh_key/certificate/user_certificate.ts";
import { UnusableKey } from "../authentication/ssh_key/public_key.ts";
import { addressGroup } from "../model/address.ts";
import { isoTime, LAST_SECOND } from "../model/clock.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { httpError } from "../model/http_error.ts";
import { type LoginThrottle, throttleLogin } from "../throttling/login_throttle.ts";
import type { Call } from "./call.ts";
import { readText } from "./request_body.ts";
import { emptyResponse, jsonResponse } from "./text_response.ts";

/** Stores of certificates with their throttle; for services whose authenticators take certificates. */
export interface CertificateParts {
  readonly admit: LoginThrottle["admitKey"];
  readonly stores: readonly CertificateStore[]; // the first store that accepts a certificate keeps it
}

/** Serves `PUT /rest/auth/ssh-certificate`, without login: the authority's signature names the user, and each login proves the key. */
export async function uploadCertificate(call: Call, parts: CertificateParts): Promise<HttpResponse> {
  const line = await readText(call.request);
  const account = call.query.get("user") ?? undefined;
  const { principals, certificate } = await showCertificate(call, { line, account }, parts);
  return jsonResponse({ principals, ...described(certificate) });
}

/** Offers a certificate to the authenticators. @param shown.account Account whose own authorities apply, too. */
export async function showCertificate(
  call: Call,
  { line, account }: { readonly line: string; readonly account: string | undefined },
  parts: CertificateParts,
): Promise<{ readonly principals: readonly string[]; readonly certificate: UserCertificate }> {
  return await throttleLogin(parts.admit("certificates", call.clientAddress, call.signal), async () => {
    let reason = "";
    const queueKey = addressGroup(call.clientAddress);
    const owner = account === undefined
      ? undefined
      : { account, queueKey, known: false, signal: call.signal };
    for (const store of parts.stores) {
      const outcome = await store.upload(line, owner);
      if (outcome.kind === "refused") {
        reason = outcome.reason;
        continue;
      }
      const { certificate, principals } = outcome;
      call.audit({ who: certificate.keyId, target: principals.join(" ") });
      return { principals, certificate };
    }
    throw httpError("ERR_CERTIFICATE_REFUSED", { why: reason });
  });
}

/** Serves `DELETE /rest/auth/ssh-certificate`. @throws {ERR_CERTIFICATE_REFUSED | ERR_NOT_FOUND} */
export async function forgetCertificate(call: Call, parts: CertificateParts): Promise<HttpResponse> {
  const line = await readText(call.request);
  return await throttleLogin(parts.admit("certificates", call.clientAddress, call.signal), async () => {
    let wasThere = false;
    try {
      for (const store of parts.stores) {
        wasThere = await store.forget(line, call.query.get("user") ?? undefined) || wasThere;
      }
    } catch (error) {
      if (error instanceof UnusableKey) throw httpError("ERR_CERTIFICATE_REFUSED", { why: error.message });
      throw error;
    }
    if (!wasThere) throw httpError("ERR_NOT_FOUND", { what: "The certificate" });
    return emptyResponse({ status: 204 });
  });
}

function described({ authority, keyId, serial, publicKey, validAfter, validBefore }: UserCertificate) {
  return {
    keyId,
    serial: String(serial),
    key: fingerprint(publicKey.fingerprint),
    authority: fingerprint(authority.fingerprint),
    validAfter: moment(validAfter),
    validBefore: moment(validBefore),
  };
}

/** In the format of `ssh-keygen -l`. */
function fingerprint(base64: string): string {
  return `SHA256:${base64.split("=", 1)[0]}`;
}

/** Undefined for certificates without end. */
function moment(seconds: number): string | undefined {
  return seconds > LAST_SECOND ? undefined : isoTime(seconds * 1000);
}
