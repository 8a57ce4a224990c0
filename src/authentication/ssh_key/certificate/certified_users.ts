import type { Logger } from "../../../logging/logger.ts";
import type { Clock } from "../../../model/clock.ts";
import { isUserAccount } from "../../../model/account_name.ts";
import { sameName } from "../../../model/distinguished_name.ts";
import type { Identity } from "../../../model/identity.ts";
import { isHttpError } from "../../../model/http_error.ts";
import type { RecordStore } from "../../../store/record_store.ts";
import { type WatchedFile, watchFile } from "../../../watch/watched_file.ts";
import { wholeLines } from "../../../watch/whole_lines.ts";
import type { SemaphoreWaiter } from "../../../model/fair_semaphore.ts";
import type { AuthenticationResult, CertificateDesk, CertificateOwner } from "../../authenticator.ts";
import type { AuthorizedKey } from "../authorized_keys.ts";
import { nameFromTemplate } from "../dn_template.ts";
import type { KeyTrial } from "../key_trial.ts";
import { UnusableKey } from "../wire_reader.ts";
import { type AuthoritiesFile, parseAuthorities } from "./authorities_file.ts";
import { CertificateRegistry, type OwnAuthorities, type UploadOutcome } from "./certificate_registry.ts";
import type { RevokedKeys } from "./revoked_keys.ts";
import { readUserCertificate, type UserCertificate } from "./user_certificate.ts";

/** Options for OpenSSH certificates and revoked keys. */
export interface CertificateOptions {
  readonly authorities: string | undefined; // authorities file; absent: no certificates
  readonly revoked: string | undefined;
  /** DN template with `%principal%`; absent: that of users with daemon keys. */
  readonly identity: string | undefined;
  readonly only: boolean; // whether keys require a certificate
  readonly records: () => RecordStore | undefined;
}

interface CertifiedKeys {
  readonly keys: readonly AuthorizedKey[];
  readonly identity: Identity;
  readonly failure?: unknown;
}

/** Users of SSH certificates. */
export class CertifiedUsers implements CertificateDesk {
  constructor(
    readonly registry: CertificateRegistry,
    /** Authenticator's name, DN template, whether names are accounts, and whether only operator's authorities apply. */
    readonly naming: {
      readonly method: string;
      readonly template: string;
      readonly haveAccounts: boolean;
      readonly only: boolean;
    },
    /** Keys that daemons report. @throws {ERR_KEY_LOOKUP_FAILED} */
    readonly ownKeys: (account: string, seeker: SemaphoreWaiter) => Promise<readonly AuthorizedKey[]>,
  ) {}

  async upload(line: string, owner?: CertificateOwner): Promise<UploadOutcome> {
    if (owner === undefined) return await this.registry.upload(line);
    if (!isUserAccount(owner.account)) return { kind: "refused", reason: "user: expected a user's account" };
    if (this.naming.only) {
      return { kind: "refused", reason: "authorities of users do not count, only the operator's" };
    }
    const keys = await this.ownKeys(owner.account, owner);
    return await this.registry.upload(line, ownAuthorities(owner.account, keys));
  }

  forget(line: string, account?: string): Promise<boolean> {
    return this.registry.forget(line, account);
  }

  /** Returns keys certified by a user's own authorities. @throws {ERR_RECORD_STORE} */
  async keysUnder(keys: readonly AuthorizedKey[], trial: KeyTrial): Promise<readonly AuthorizedKey[]> {
    const { proof: { user }, clientAddress } = trial;
    const own = ownAuthorities(user, keys);
    return (await this.#issuedBy(own)).flatMap((certificate) => {
      const result = this.registry.judge(certificate, { clientAddress, own });
      if (result.kind === "valid") return [{ publicKey: certificate.publicKey, conditions: {} }];
      trial.note(`a certificate of the user does not count: ${result.reason}`);
      return [];
    });
  }

  simulate(line: string, user: string, clientAddress: string): AuthenticationResult {
    if (!isUserAccount(user)) return { kind: "refused", reason: "the user name cannot be a user's account" };
    try {
      const result = this.registry.judge(readUserCertificate(line), { clientAddress });
      if (result.kind === "refused") return result;
      return result.principals.includes(user)
        ? { kind: "accepted", identity: this.identityOf(user) }
        : { kind: "refused", reason: `it names ${result.principals.join(", ")}` };
    } catch (error) {
      if (error instanceof UnusableKey) return { kind: "refused", reason: error.message };
      throw error;
    }
  }

  /** With `%principal%` names, only attribute sources know the accounts. */
  identityOf(user: string): Identity {
    const { method, haveAccounts } = this.naming;
    const uid = haveAccounts ? user : undefined;
    return { method: "SSHKEY", via: method, login: user, uid, role: "user", dn: this.#nameOf(user) };
  }

  /** Returns keys with valid certificates that give a user this name, from any address. */
  async keysNaming(login: string, dn: string): Promise<readonly AuthorizedKey[]> {
    if (!sameName(this.#nameOf(login), dn)) return [];
    return (await this.registry.of(login)).flatMap((certificate) => {
      const result = this.registry.judge(certificate);
      return result.kind === "valid" && result.principals.includes(login) ? [keyOf(certificate)] : [];
    });
  }

  /** Returns keys certified by authorities in the user's own keys, from any address. */
  async keysOf(login: string, keys: readonly AuthorizedKey[]): Promise<readonly AuthorizedKey[]> {
    const own = ownAuthorities(login, keys);
    return (await this.#issuedBy(own)).flatMap((certificate) =>
      this.registry.judge(certificate, { own }).kind === "valid" ? [keyOf(certificate)] : []
    );
  }

  /** Returns keys with valid certificates for now and this address, or the error. */
  async keysFor(
    trial: KeyTrial,
  ): Promise<CertifiedKeys> {
    const { proof: { user }, clientAddress } = trial;
    const identity = this.identityOf(user);
    try {
      const keys = (await this.registry.of(user)).flatMap((certificate) => {
        const result = this.registry.judge(certificate, { clientAddress });
        if (result.kind === "valid" && result.principals.includes(user)) {
          return [{ publicKey: certificate.publicKey, conditions: {} }];
        }
        if (result.kind === "refused") {
          trial.note(`a certificate of the user does not count: ${result.reason}`);
        }
        return [];
      });
      return { keys, identity };
    } catch (failure) {
      if (!isHttpError(failure, "ERR_RECORD_STORE")) throw failure;
      return { keys: [], identity, failure };
    }
  }

  close(): void {
    this.registry.close();
  }

  /** Asks the store only for users who have authorities. */
  async #issuedBy(own: OwnAuthorities): Promise<readonly UserCertificate[]> {
    return own.authorities.size === 0 ? [] : await this.registry.of(own.account, own);
  }

  #nameOf(user: string): string {
    return nameFromTemplate(this.naming.template, user);
  }
}

function keyOf({ publicKey }: UserCertificate): AuthorizedKey {
  return { publicKey, conditions: {} };
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
  { name, dnTemplate, revoked, clock, log, ownKeys }: {
    readonly ownKeys: CertifiedUsers["ownKeys"];
    readonly name: string;
    readonly dnTemplate: string;
    readonly revoked: WatchedFile<RevokedKeys> | undefined;
    readonly clock: Clock;
    readonly log: Logger;
  },
): Promise<CertifiedUsers | undefined> {
  const kept = authorities === undefined ? undefined : records();
  if (authorities === undefined || kept === undefined) return undefined;
  const report = ({ diagnostics }: AuthoritiesFile) => {
    for (const { file, line, expected } of diagnostics) {
      log.warn("line of the authorities file not used", { file, line, reason: expected });
    }
  };
  const watched = await watchFile(authorities, wholeLines(parseAuthorities), { log, onChange: report });
  report(watched.current);
  return new CertifiedUsers(
    new CertificateRegistry({ records: kept, authorities: watched, revoked, clock, log }),
    {
      method: name,
      template: identity?.replaceAll("%principal%", "%s") ?? dnTemplate,
      haveAccounts: identity === undefined,
      only,
    },
    ownKeys,
  );
}
