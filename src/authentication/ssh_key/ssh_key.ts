import type { Logger } from "../../logging/logger.ts";
import { isUserAccount } from "../../model/account_name.ts";
import type { Clock, Stopwatch } from "../../model/clock.ts";
import type { Authorization, Credentials } from "../../model/credentials.ts";
import { sameName } from "../../model/distinguished_name.ts";
import type { Identity } from "../../model/identity.ts";
import { isRefusal, refuse, type ServiceError } from "../../model/service_error.ts";
import type { TurnSeeker } from "../../model/turns.ts";
import type { RecordStore } from "../../store/record_store.ts";
import { watchBytes, type WatchedFile, watchFile } from "../../watch/watched_file.ts";
import { wholeLines } from "../../watch/whole_lines.ts";
import type { Authenticator, Verdict } from "../authenticator.ts";
import { seekerOf } from "../asker_of.ts";
import { InvalidToken, isSignedBy } from "../signed_token.ts";
import type { NamedUser, Standing } from "../standing.ts";
import { TokenVerifier } from "../token_verifier.ts";
import { type AuthorizedKey, hindrance } from "./authorized_keys.ts";
import { type AuthoritiesFile, parseAuthorities } from "./certificate/authorities_file.ts";
import { CertificateBook } from "./certificate/certificate_book.ts";
import { readRevokedKeys, type RevokedKeys } from "./certificate/revoked_keys.ts";
import { checkTemplate, nameFromTemplate } from "./dn_template.ts";
import { KeyDirectory } from "./key_directory.ts";
import { type KeysFile, parseKeysFile } from "./keys_file.ts";
import { isLegacySignedBy, LegacyTokenUses, likelyKeyType, readLegacyToken } from "./legacy_token.ts";
import { nobodysKey } from "./nobodys_key.ts";
import type { SshKeyType, SshPublicKey } from "./public_key.ts";
import type { KeyCacheTimes, KeySource } from "./server_keys.ts";
import { readSshToken } from "./token.ts";

/** Whose keys count, and which tokens. */
export interface SshKeyOptions {
  /** In the configured order, such as `SSHKEY`. */
  readonly name: string;
  /** Path of the keys file, if there is one. */
  readonly file?: string;
  /** With `%s` for the user name, see {@link nameFromTemplate}. */
  readonly dnTemplate: string;
  /** The logical servers whose daemons are asked for users' own keys; none if `useAuthorizedKeys` is off. */
  readonly sources: readonly KeySource[];
  readonly times: KeyCacheTimes;
  /** Whose certificates count, and what for; absent: nobody's. */
  readonly certificates?: CertificateOptions;
  /** Longest time until expiry that a token may have, in seconds. */
  readonly maxLifetime: number;
  /** Whether the header token of Java clients up to 2.2.2 is accepted. */
  readonly legacyToken: boolean;
  /** The server's name as tokens have it in `aud`, from the certificate in use. */
  readonly serverName: () => string;
  readonly clock: Clock;
  readonly elapsed?: Stopwatch;
  readonly log: Logger;
}

/** OpenSSH certificates that count, and lists of keys that do not. */
export interface CertificateOptions {
  /** Path of the file of authorities; absent: no certificate counts. */
  readonly authorities: string | undefined;
  /** Path of the list of revoked keys, if there is one. */
  readonly revoked: string | undefined;
  /** Name of users with a certificate, with `%principal%`; absent: that of users whose key a daemon reported. */
  readonly identity: string | undefined;
  /** Whether keys without a certificate count for nothing. */
  readonly only: boolean;
  /** Where certificates are kept. */
  readonly records: () => RecordStore | undefined;
}

/**
 * Recognises users by their SSH keys, from the keys file and from the daemons. The file, if it names a user, is the only
 * source for that user (design decision "Keys file and daemon keys").
 * @throws {InvalidName} If the template is none for a DN; what {@link watchFile} throws for the keys file.
 */
export async function sshKey(options: SshKeyOptions): Promise<Authenticator> {
  checkTemplate(options.dnTemplate);
  if (!options.dnTemplate.includes("%s")) {
    options.log.warn("the DN template has no %s, so all users get one name", { method: options.name });
  }
  const report = ({ problems }: KeysFile) => {
    for (const { file, line, expected } of problems) {
      options.log.warn("line of the keys file not used", { file, line, reason: expected });
    }
  };
  const file = options.file === undefined
    ? undefined
    : await watchFile(options.file, wholeLines(parseKeysFile), { log: options.log, onChange: report });
  if (file !== undefined) report(file.current);
  const revoked = options.certificates?.revoked === undefined
    ? undefined
    : await watchBytes(options.certificates.revoked, readRevokedKeys, { log: options.log });
  return new SshKeyAuthenticator(options, { file, revoked, certificates: await openBook(options, revoked) });
}

/** The files that are watched for a method, and what it keeps. */
interface Opened {
  readonly file: WatchedFile<KeysFile> | undefined;
  readonly revoked: WatchedFile<RevokedKeys> | undefined;
  /** Present if certificates count. */
  readonly certificates: CertificateBook | undefined;
}

async function openBook(
  { certificates, clock, log }: SshKeyOptions,
  revoked: WatchedFile<RevokedKeys> | undefined,
): Promise<CertificateBook | undefined> {
  const records = certificates?.records();
  if (certificates?.authorities === undefined || records === undefined) return undefined;
  const report = ({ problems }: AuthoritiesFile) => {
    for (const { file, line, expected } of problems) {
      log.warn("line of the authorities file not used", { file, line, reason: expected });
    }
  };
  const authorities = await watchFile(certificates.authorities, wholeLines(parseAuthorities), {
    log,
    onChange: report,
  });
  report(authorities.current);
  return new CertificateBook({ records, authorities, revoked, clock, log });
}

/** Something that only the owner of a key can have made, and for which user. */
interface Proof {
  readonly user: string;
  /** Whether a key is of a type that can have made it. */
  fits(key: SshPublicKey): boolean;
  isMadeBy(key: SshPublicKey): Promise<boolean>;
  /** Verifies it under a key that nobody has. */
  tryInVain(): Promise<unknown>;
  /** Whether it may be used, once it is verified; if not, why. */
  admit?(): string | undefined;
}

class SshKeyAuthenticator implements Authenticator {
  readonly challenges: readonly ("Basic" | "Bearer")[] = ["Bearer"];
  readonly #directory: KeyDirectory;
  readonly #verifier = new TokenVerifier();
  readonly #legacyUses: LegacyTokenUses;

  readonly file: WatchedFile<KeysFile> | undefined;
  readonly certificates: CertificateBook | undefined;
  readonly #revoked: WatchedFile<RevokedKeys> | undefined;

  constructor(readonly options: SshKeyOptions, { file, revoked, certificates }: Opened) {
    this.file = file;
    this.#revoked = revoked;
    this.certificates = certificates;
    this.#directory = new KeyDirectory(options.sources, options.times, options);
    this.#legacyUses = new LegacyTokenUses(options.elapsed);
  }

  get name(): string {
    return this.options.name;
  }

  async authenticate(credentials: Credentials, signal: AbortSignal): Promise<Verdict> {
    const { authorization, clientAddress } = credentials;
    signal.throwIfAborted();
    let proof: Proof;
    try {
      if (authorization.kind === "ssh-legacy") proof = this.#legacyProof(authorization, clientAddress);
      else if (authorization.kind !== "bearer" || authorization.route !== "ssh-key") {
        return { kind: "skipped" };
      } else proof = this.#tokenProof(authorization.token.reveal());
    } catch (error) {
      if (error instanceof InvalidToken) return { kind: "refused", reason: error.message };
      throw error;
    }
    // Before any daemon hears of the name (authentication.md 3.10).
    if (!isUserAccount(proof.user)) {
      return { kind: "refused", reason: "the user name cannot be a user's account" };
    }
    const trial = new KeyTrial(proof, clientAddress, this.options.clock(), this.#revoked?.current);
    return await this.#verify(trial, seekerOf(credentials, signal));
  }

  /** The keys file, if it names the user, else the daemons: whoever has no key there any more is gone. */
  async standingOf({ dn, uid, login = uid }: NamedUser, signal: AbortSignal): Promise<Standing> {
    if (login === undefined) return this.#isNamedInFile(dn) ? { kind: "known" } : { kind: "cannot tell" };
    if (await this.#isCertified(login, dn)) return { kind: "known" };
    if (this.options.certificates?.only) return { kind: "gone" };
    const fromFile = this.file?.current.keys.get(login);
    if (fromFile !== undefined) {
      return { kind: fromFile.some((key) => sameName(key.dn, dn)) ? "known" : "gone" };
    }
    if (!isUserAccount(login) || !sameName(nameFromTemplate(this.options.dnTemplate, login), dn)) {
      return { kind: "gone" };
    }
    const { confirmed, failed } = await this.#directory.confirm(
      login,
      (keys) => Promise.resolve(keys.length > 0),
      { lane: `standing of ${login}`, known: true, signal }, // asked about on the word of a token that was verified
    );
    if (confirmed.length > 0) return { kind: "known", servers: [...confirmed, ...failed] };
    if (failed.length > 0) throw notLookedUp(failed);
    return { kind: "gone" };
  }

  /** Whether a certificate that counts gives a user this name. */
  async #isCertified(login: string, dn: string): Promise<boolean> {
    const book = this.certificates;
    if (book === undefined || !sameName(this.#certifiedName(login), dn)) return false;
    return (await book.of(login)).some((certificate) => {
      const verdict = book.judge(certificate);
      return verdict.kind === "valid" && verdict.principals.includes(login);
    });
  }

  #isNamedInFile(dn: string): boolean {
    const users = [...this.file?.current.keys.values() ?? []];
    return users.some((keys) => keys.some((key) => sameName(key.dn, dn)));
  }

  namesOf(login: string): readonly string[] {
    if (!isUserAccount(login)) return [];
    const fromFile = this.file?.current.keys.get(login);
    if (fromFile !== undefined) return [...new Set(fromFile.map(({ dn }) => dn))];
    return this.options.sources.length === 0 ? [] : [nameFromTemplate(this.options.dnTemplate, login)];
  }

  lists(login: string): boolean {
    return this.file?.current.keys.has(login) === true || this.#directory.hasKeys(login);
  }

  close(): void {
    this.file?.close();
    this.certificates?.close();
    this.#revoked?.close();
    this.#directory.close();
  }

  async #verify(trial: KeyTrial, seeker: TurnSeeker): Promise<Verdict> {
    const { user } = trial.proof;
    const certified = await this.#certifiedKeys(trial);
    if (await trial.find(certified.keys) !== undefined) return this.#acceptCertified(trial);
    if (this.options.certificates?.only) {
      await trial.finish();
      if (certified.failure !== undefined) throw certified.failure;
      return { kind: "refused", reason: trial.reason };
    }
    const fromFile = this.file?.current.keys.get(user);
    if (fromFile !== undefined) {
      const key = await trial.find(fromFile);
      if (key !== undefined) return this.#accept(trial, { dn: key.dn });
    } else {
      const { confirmed, failed } = await this.#directory.confirm(
        user,
        async (keys) => await trial.find(keys) !== undefined,
        seeker,
      );
      if (confirmed.length > 0) {
        const dn = nameFromTemplate(this.options.dnTemplate, user);
        return this.#accept(trial, { dn, uidServers: confirmed });
      }
      if (failed.length > 0) {
        await trial.finish();
        throw notLookedUp(failed);
      }
    }
    await trial.finish();
    if (certified.failure !== undefined) throw certified.failure;
    return { kind: "refused", reason: trial.reason };
  }

  /** Keys for which certificates speak, now and from there. Where these cannot be read, other keys count all the same. */
  async #certifiedKeys(
    trial: KeyTrial,
  ): Promise<{ readonly keys: readonly AuthorizedKey[]; readonly failure?: unknown }> {
    const book = this.certificates;
    if (book === undefined) return { keys: [] };
    const { proof: { user }, clientAddress } = trial;
    try {
      const keys = (await book.of(user)).flatMap((certificate) => {
        const verdict = book.judge(certificate, clientAddress);
        if (verdict.kind === "valid" && verdict.principals.includes(user)) {
          return [{ publicKey: certificate.publicKey, conditions: {} }];
        }
        if (verdict.kind === "refused") {
          trial.note(`a certificate of the user does not count: ${verdict.reason}`);
        }
        return [];
      });
      return { keys };
    } catch (failure) {
      if (!isRefusal(failure, "ERR_RECORD_STORE")) throw failure;
      return { keys: [], failure };
    }
  }

  /** Name of a user who has a certificate. */
  #certifiedName(user: string): string {
    const { certificates, dnTemplate } = this.options;
    const template = certificates?.identity;
    return template === undefined
      ? nameFromTemplate(dnTemplate, user)
      : nameFromTemplate(template.replaceAll("%principal%", "%s"), user);
  }

  /** Where principals have names of their own, the sources of attributes alone know their accounts. */
  #acceptCertified(trial: KeyTrial): Verdict {
    const verdict = this.#accept(trial, { dn: this.#certifiedName(trial.proof.user) });
    if (verdict.kind !== "accepted" || this.options.certificates?.identity === undefined) return verdict;
    const { uid: _, ...identity } = verdict.identity;
    return { kind: "accepted", identity };
  }

  #accept({ proof }: KeyTrial, name: Pick<Identity, "dn" | "uidServers">): Verdict {
    const reason = proof.admit?.();
    if (reason !== undefined) return { kind: "refused", reason };
    const { user } = proof;
    return {
      kind: "accepted",
      identity: { method: "SSHKEY", via: this.name, login: user, uid: user, role: "user", ...name },
    };
  }

  #tokenProof(text: string): Proof {
    const { clock, maxLifetime: seconds, name, serverName } = this.options;
    const setting = `container.security.rest.authentication.${name}.maxTokenLifetime`;
    const rules = { now: clock(), audience: serverName(), maxLifetime: { seconds, setting } };
    const token = readSshToken(text, rules);
    return {
      user: token.user,
      fits: ({ type }) => type === token.keyType,
      isMadeBy: ({ key, fingerprint }) => this.#verifier.isSignedBy(token, key, fingerprint),
      tryInVain: () => isSignedBy(token, nobodysKey(token.keyType)),
    };
  }

  #legacyProof(
    { user, signature, signed }: Authorization & { kind: "ssh-legacy" },
    clientAddress: string,
  ): Proof {
    if (!this.options.legacyToken) throw new InvalidToken("tokens of old clients are switched off");
    const token = readLegacyToken(user, signature.reveal(), signed);
    if (token === undefined) throw new InvalidToken("not what old clients send");
    const keyType = likelyKeyType(token);
    return {
      user,
      fits: ({ type }) => family(type) === family(keyType),
      isMadeBy: (key) => Promise.resolve(isLegacySignedBy(token, key)),
      tryInVain: () => Promise.resolve(isLegacySignedBy(token, { type: keyType, key: nobodysKey(keyType) })),
      admit: () => {
        if (!this.#legacyUses.admit(token, clientAddress)) {
          return "the token of an old client was used before";
        }
        this.options.log.warn("signed in with the outdated token of an old client", { user });
        return undefined;
      },
    };
  }
}

/** One attempt to find the key that made a proof. */
class KeyTrial {
  #worked = false;
  #reason = "no key of the user made the signature";

  constructor(
    readonly proof: Proof,
    readonly clientAddress: string,
    readonly now: number,
    readonly revoked: RevokedKeys | undefined,
  ) {}

  /** Why no key was found, for the log. */
  get reason(): string {
    return this.#reason;
  }

  /** Notes why no key may be found, for the log. */
  note(reason: string): void {
    this.#reason = reason;
  }

  /** The first key that made the proof and whose conditions are met. */
  async find<K extends AuthorizedKey>(keys: readonly K[]): Promise<K | undefined> {
    for (const key of keys) {
      if (!this.proof.fits(key.publicKey)) continue;
      this.#worked = true;
      if (!await this.proof.isMadeBy(key.publicKey)) continue;
      const reason = this.revoked?.revokesKey(key.publicKey) ? "the key was revoked" : hindrance(key, this);
      if (reason === undefined) return key;
      this.#reason = reason;
    }
    return undefined;
  }

  /** Does the work that a wrong key would have cost, if there was no key to try. */
  async finish(): Promise<void> {
    if (!this.#worked) await this.proof.tryInVain();
  }
}

/** `ecdsa` for all curves. */
function family(type: SshKeyType): string {
  return type.startsWith("ecdsa-") ? "ecdsa" : type;
}

function notLookedUp(servers: readonly string[]): ServiceError {
  return refuse("ERR_KEY_LOOKUP_FAILED", `Users' keys cannot be read from ${servers.join(", ")}`);
}
