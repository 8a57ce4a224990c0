import { createHash } from "node:crypto";
import { attempt } from "../../../model/attempt.ts";
import type { Logger } from "../../../logging/logger.ts";
import { BoundedMap } from "../../../model/bounded_map.ts";
import { type Clock, epochSeconds } from "../../../model/clock.ts";
import type { RecordStore, StoredRecord } from "../../../store/record_store.ts";
import type { WatchedFile } from "../../../watch/watched_file.ts";
import { UnusableKey } from "../public_key.ts";
import {
  type AuthoritiesFile,
  type AuthorizedKey,
  type CertificateAuthority,
  parseAuthorities,
} from "../authorized_keys.ts";
import { type CertificateResult, verifyCertificate } from "./verify_certificate.ts";
import type { RevokedKeys } from "./revoked_keys.ts";
import { readUserCertificate, type UploadOutcome, type UserCertificate } from "./user_certificate.ts";
import { isUserAccount } from "../../../model/account_name.ts";
import { sameName } from "../../../model/distinguished_name.ts";
import type { Identity } from "../../../model/identity.ts";
import { isHttpError } from "../../../model/http_error.ts";
import { watchLines } from "../../../watch/whole_lines.ts";
import type { SemaphoreWaiter } from "../../../model/fair_semaphore.ts";
import type { AuthenticationResult, CertificateOwner, CertificateStore } from "../../authenticator.ts";
import { nameFromTemplate } from "../keys_file.ts";
import type { KeyTrial } from "../key_trial.ts";

/** Authorities of an account, from `cert-authority` in its `authorized_keys`. */
interface OwnAuthorities {
  readonly account: string;
  readonly authorities: ReadonlyMap<string, CertificateAuthority>; // by key fingerprint
}

/** Record kinds: one per principal, which owns it; one for an account with own authorities. */
const [KIND, OWN_KIND] = ["ssh-certificate", "own-ssh-certificate"] as const;
type Kind = typeof KIND | typeof OWN_KIND;
const MOST_OF_A_SET = 20; // valid certificates with the same principals; those that expire first are removed
const MOST_OF_A_PRINCIPAL = 1000; // per principal
const REMEMBERED = 5000; // cached verified certificates

interface CertifiedUsersParts {
  readonly records: RecordStore;
  readonly authorities: WatchedFile<AuthoritiesFile>;
  readonly revoked: WatchedFile<RevokedKeys> | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  readonly method: string; // the authenticator's name
  readonly template: string; // of DNs, with `%s`
  readonly haveAccounts: boolean; // whether names are accounts
  readonly only: boolean; // whether only the operator's authorities apply
  readonly ownKeys: (account: string, waiter: SemaphoreWaiter) => Promise<readonly AuthorizedKey[]>;
}

/** Users of SSH certificates, which they upload; each use verifies a certificate again. */
export class CertifiedUsers implements CertificateStore {
  /** Certificates by line. A claimed user name causes all its certificates to be read before authentication. */
  readonly #verified = new BoundedMap<string, UserCertificate>(REMEMBERED);

  constructor(readonly parts: CertifiedUsersParts) {}

  async upload(line: string, owner?: CertificateOwner): Promise<UploadOutcome> {
    if (owner === undefined) return await this.#store(line);
    if (!isUserAccount(owner.account)) return { kind: "refused", reason: "user: expected a user's account" };
    if (this.parts.only) {
      return { kind: "refused", reason: "authorities of users do not count, only the operator's" };
    }
    const keys = await this.parts.ownKeys(owner.account, owner);
    return await this.#store(line, ownAuthorities(owner.account, keys));
  }

  /** Stores an acceptable certificate. @param own Authorities; default: the operator's. @throws {ERR_RECORD_STORE} */
  async #store(line: string, own?: OwnAuthorities): Promise<UploadOutcome> {
    const certificate = attempt(() => readUserCertificate(line), UnusableKey, refusal);
    if ("kind" in certificate) return certificate;
    const result = this.verify(certificate, { own });
    if (result.kind === "refused") return result;
    const { principals } = result;
    const kind = kindOf(own);
    const owners = own === undefined ? principals : [own.account];
    await this.#makeRoom(certificate, owners, kind);
    const { records, clock } = this.parts;
    const made = epochSeconds(clock);
    const ends = Math.min(certificate.validBefore, Number.MAX_SAFE_INTEGER);
    for (const owner of owners) {
      const content = { line: certificate.line, set: setOf(certificate) };
      const record = { key: keyOf(certificate, owner), owner, made, ends, content };
      await records.put(kind, record, MOST_OF_A_PRINCIPAL);
    }
    return { kind: "stored", certificate, principals: owners };
  }

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
    return (await this.parts.records.list(kindOf(own), user)).flatMap((record) =>
      attempt(() => this.#parseStored(contentOf(record).line), UnusableKey, (error) => {
        this.parts.log.error("stored certificate cannot be read", { error });
        return [];
      })
    );
  }

  /** @param options.clientAddress Absent: only verified, not in use. @param options.own Instead of the operator's. */
  verify(
    certificate: UserCertificate,
    { clientAddress, own }: { readonly clientAddress?: string; readonly own?: OwnAuthorities } = {},
  ): CertificateResult {
    const { authorities: operators, revoked, clock } = this.parts;
    const { authorities } = own ?? operators.current;
    const result = verifyCertificate(certificate, {
      authorities,
      revoked: revoked?.current,
      now: epochSeconds(clock),
      clientAddress,
    });
    // sshd(8), principals: otherwise the certificate must name the account itself.
    const named = authorities.get(certificate.authority.fingerprint)?.principals !== undefined;
    if (own === undefined || result.kind === "refused" || named) return result;
    return result.principals.includes(own.account)
      ? result
      : { kind: "refused", reason: "it does not name the account" };
  }

  simulate(line: string, user: string, clientAddress: string): AuthenticationResult {
    if (!isUserAccount(user)) return { kind: "refused", reason: "the user name cannot be a user's account" };
    const verify = () => this.verify(readUserCertificate(line), { clientAddress });
    const result = attempt(verify, UnusableKey, refusal);
    if (result.kind === "refused") return result;
    return result.principals.includes(user)
      ? { kind: "accepted", identity: this.identityOf(user) }
      : { kind: "refused", reason: `it names ${result.principals.join(", ")}` };
  }

  /** Returns a user's identity. With `%principal%` names, only attribute sources know the accounts. */
  identityOf(user: string): Identity {
    const { method, haveAccounts } = this.parts;
    const uid = haveAccounts ? user : undefined;
    return { method: "SSHKEY", via: method, login: user, uid, role: "user", dn: this.#nameOf(user) };
  }

  /** Returns keys with valid certificates that give a user this name, from any address. */
  async keysNaming(login: string, dn: string): Promise<readonly AuthorizedKey[]> {
    return sameName(this.#nameOf(login), dn) ? await this.#keysOf(login) : [];
  }

  /** Returns keys certified by authorities in the user's own keys. @param trial Absent: from any address. */
  async keysUnder(
    user: string,
    keys: readonly AuthorizedKey[],
    trial?: KeyTrial,
  ): Promise<readonly AuthorizedKey[]> {
    return await this.#keysOf(user, trial, ownAuthorities(user, keys));
  }

  /** Returns keys with valid certificates for now and this address, or the error. */
  async keysFor(trial: KeyTrial) {
    const { user } = trial.proof;
    const identity = this.identityOf(user);
    try {
      return { keys: await this.#keysOf(user, trial), identity, failure: undefined };
    } catch (failure) {
      if (!isHttpError(failure, "ERR_RECORD_STORE")) throw failure;
      return { keys: [], identity, failure };
    }
  }

  /** Returns the keys of valid certificates. @param own In place of the operator's; if empty, reads no store. */
  async #keysOf(user: string, trial?: KeyTrial, own?: OwnAuthorities): Promise<readonly AuthorizedKey[]> {
    const certificates = own?.authorities.size === 0 ? [] : await this.of(user, own);
    return certificates.flatMap((certificate) => {
      const result = this.verify(certificate, { clientAddress: trial?.clientAddress, own });
      if (result.kind === "refused") {
        if (trial) trial.reason = `a certificate of the user does not count: ${result.reason}`;
        return [];
      }
      return own !== undefined || result.principals.includes(user)
        ? [{ publicKey: certificate.publicKey, conditions: {} }]
        : [];
    });
  }

  #nameOf(user: string): string {
    return nameFromTemplate(this.parts.template, user);
  }

  /** Does not close the revocation list, which belongs to its opener. */
  close(): void {
    this.parts.authorities.close();
  }

  /** Parses a certificate that was verified on upload. @throws {UnusableKey} If it is not valid. */
  #parseStored(line: string): UserCertificate {
    return this.#verified.getOrInsertComputed(line, readUserCertificate);
  }

  /** Removes the certificates that expire first, if many share the principals. */
  async #makeRoom(certificate: UserCertificate, [owner = ""]: readonly string[], kind: Kind): Promise<void> {
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

function contentOf({ content }: StoredRecord): { readonly line: string; readonly set: string } {
  if (typeof content === "object" && content !== null && "line" in content && "set" in content) {
    const { line, set } = content;
    if (typeof line === "string" && typeof set === "string") return { line, set };
  }
  throw new UnusableKey("record is not one of a certificate");
}

function refusal({ message }: UnusableKey) {
  return { kind: "refused", reason: message } as const;
}

export interface CertificateOptions {
  readonly authorities: string | undefined; // authorities file; absent: no certificates
  readonly revoked: string | undefined;
  /** DN template with `%principal%`; absent: that of users with daemon keys. */
  readonly identity: string | undefined;
  readonly only: boolean; // whether keys require a certificate
  readonly records: () => RecordStore | undefined;
}

function ownAuthorities(account: string, keys: readonly AuthorizedKey[]): OwnAuthorities {
  const authorities = keys.flatMap(({ issues }) => issues ?? []);
  return {
    account,
    authorities: new Map(authorities.map((authority) => [authority.publicKey.fingerprint, authority])),
  };
}

/** Opens and watches the authorities; `undefined` without certificates. */
export async function openCertifiedUsers(
  { authorities, identity, only, records }: CertificateOptions,
  { name, dnTemplate, ...parts }:
    & Pick<CertifiedUsersParts, "revoked" | "clock" | "log" | "ownKeys">
    & { readonly name: string; readonly dnTemplate: string },
): Promise<CertifiedUsers | undefined> {
  const store = authorities === undefined ? undefined : records();
  if (authorities === undefined || store === undefined) return undefined;
  const about = { what: "authorities file", log: parts.log };
  return new CertifiedUsers({
    records: store,
    authorities: await watchLines(authorities, parseAuthorities, about),
    method: name,
    template: identity?.replaceAll("%principal%", "%s") ?? dnTemplate,
    haveAccounts: identity === undefined,
    only,
    ...parts,
  });
}
