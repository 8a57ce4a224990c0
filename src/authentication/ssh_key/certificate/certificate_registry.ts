import { createHash } from "node:crypto";
import type { Logger } from "../../../logging/logger.ts";
import { BoundedMap } from "../../../model/bounded_map.ts";
import type { Clock } from "../../../model/clock.ts";
import type { KeptRecord, RecordStore } from "../../../store/record_store.ts";
import type { WatchedFile } from "../../../watch/watched_file.ts";
import { UnusableKey } from "../wire_reader.ts";
import type { AuthoritiesFile, CertificateAuthority } from "./authorities_file.ts";
import { type CertificateResult, judgeCertificate } from "./judge_certificate.ts";
import type { RevokedKeys } from "./revoked_keys.ts";
import { readUserCertificate, type UserCertificate } from "./user_certificate.ts";

/** Result of uploading a certificate. */
export type UploadOutcome =
  | { readonly kind: "kept"; readonly certificate: UserCertificate; readonly principals: readonly string[] }
  | { readonly kind: "refused"; readonly reason: string }; // the caller may see the reason

/** Authorities of an account, from `cert-authority` in its `authorized_keys`. */
export interface OwnAuthorities {
  readonly account: string;
  readonly authorities: ReadonlyMap<string, CertificateAuthority>; // by key fingerprint
}

/** Record kinds: one per principal, which owns it; one for an account with own authorities. */
const [KIND, OWN_KIND] = ["ssh-certificate", "own-ssh-certificate"] as const;
type Kind = typeof KIND | typeof OWN_KIND;
/** Valid certificates with the same principals; those that expire first are removed. */
const MOST_OF_A_SET = 20;
const MOST_OF_A_PRINCIPAL = 1000; // per principal
const REMEMBERED = 5000; // cached verified certificates

/** Uploaded certificates, judged again on each use. */
export class CertificateRegistry {
  /** By line. A claimed user name causes all its certificates to be read before authentication. */
  readonly #verified = new BoundedMap<string, UserCertificate>(REMEMBERED);

  constructor(
    readonly parts: {
      readonly records: RecordStore;
      readonly authorities: WatchedFile<AuthoritiesFile>;
      readonly revoked: WatchedFile<RevokedKeys> | undefined;
      readonly clock: Clock;
      readonly log: Logger;
    },
  ) {}

  /** Stores an acceptable certificate. @param own Authorities; default: the operator's. @throws {ERR_RECORD_STORE} */
  async upload(line: string, own?: OwnAuthorities): Promise<UploadOutcome> {
    let certificate: UserCertificate;
    try {
      certificate = readUserCertificate(line);
    } catch (error) {
      if (error instanceof UnusableKey) return { kind: "refused", reason: error.message };
      throw error;
    }
    const result = this.judge(certificate, { own });
    if (result.kind === "refused") return result;
    const { principals } = result;
    const kind = kindOf(own);
    const owners = own === undefined ? principals : [own.account];
    await this.#makeWorker(certificate, owners, kind);
    const { records, clock } = this.parts;
    const made = Math.floor(clock() / 1000);
    const ends = Math.min(certificate.validBefore, Number.MAX_SAFE_INTEGER);
    for (const owner of owners) {
      const content = { line: certificate.line, set: setOf(certificate) };
      const record = { key: keyOf(certificate, owner), owner, made, ends, content };
      await records.put(kind, record, MOST_OF_A_PRINCIPAL);
    }
    return { kind: "kept", certificate, principals: owners };
  }

  /** Returns whether it existed. @param account Of own authorities. @throws {UnusableKey | ERR_RECORD_STORE} */
  async forget(line: string, account?: string): Promise<boolean> {
    const certificate = readUserCertificate(line);
    let any = false;
    for (const principal of certificate.principals) {
      any = await this.parts.records.remove(KIND, keyOf(certificate, principal)) || any;
    }
    if (account === undefined) return any;
    return await this.parts.records.remove(OWN_KIND, keyOf(certificate, account)) || any;
  }

  /** Returns a user's certificates, valid or not. @throws {ERR_RECORD_STORE} */
  async of(user: string, own?: OwnAuthorities): Promise<readonly UserCertificate[]> {
    const records = await this.parts.records.list(kindOf(own), user);
    return records.flatMap((record) => {
      try {
        return [this.#stored(contentOf(record).line)];
      } catch (error) {
        if (!(error instanceof UnusableKey)) throw error;
        this.parts.log.error("stored certificate cannot be read", { error });
        return [];
      }
    });
  }

  /** @param options.clientAddress Absent: not in use. @param options.own Instead of the operator's. */
  judge(
    certificate: UserCertificate,
    { clientAddress, own }: { readonly clientAddress?: string; readonly own?: OwnAuthorities } = {},
  ): CertificateResult {
    const { authorities: operators, revoked, clock } = this.parts;
    const { authorities } = own ?? operators.current;
    const result = judgeCertificate(certificate, {
      authorities,
      revoked: revoked?.current,
      now: Math.floor(clock() / 1000),
      clientAddress,
    });
    // sshd(8), principals: otherwise the certificate must name the account itself.
    const named = authorities.get(certificate.authority.fingerprint)?.principals !== undefined;
    if (own === undefined || result.kind === "refused" || named) return result;
    return result.principals.includes(own.account)
      ? result
      : { kind: "refused", reason: "it does not name the account" };
  }

  /** Leaves the revocation list to its opener. */
  close(): void {
    this.parts.authorities.close();
  }

  /** Parses a certificate that was verified on upload. @throws {UnusableKey} If it is not valid. */
  #stored(line: string): UserCertificate {
    const known = this.#verified.get(line);
    if (known !== undefined) return known;
    const certificate = readUserCertificate(line);
    this.#verified.set(line, certificate);
    return certificate;
  }

  /** Removes the certificates that expire first, if many share the principals. */
  async #makeWorker(
    certificate: UserCertificate,
    [owner = ""]: readonly string[],
    kind: Kind,
  ): Promise<void> {
    const set = setOf(certificate);
    const others = (await this.parts.records.list(kind, owner))
      .filter((record) => contentOf(record).set === set && record.key !== keyOf(certificate, owner))
      .sort((one, other) => other.ends - one.ends);
    for (const record of others.slice(MOST_OF_A_SET - 1)) {
      if (kind === KIND) await this.forget(contentOf(record).line);
      else await this.parts.records.remove(kind, record.key);
    }
  }
}

function keyOf({ digest }: UserCertificate, principal: string): string {
  return createHash("sha256").update(`${digest}\n${principal}`).digest("base64url");
}

function kindOf(own: OwnAuthorities | undefined): Kind {
  return own === undefined ? KIND : OWN_KIND;
}

function setOf({ principals }: UserCertificate): string {
  return createHash("sha256").update(JSON.stringify([...principals].sort())).digest("base64url");
}

function contentOf({ content }: KeptRecord): { readonly line: string; readonly set: string } {
  if (typeof content === "object" && content !== null && "line" in content && "set" in content) {
    const { line, set } = content;
    if (typeof line === "string" && typeof set === "string") return { line, set };
  }
  throw new UnusableKey("record is not one of a certificate");
}
