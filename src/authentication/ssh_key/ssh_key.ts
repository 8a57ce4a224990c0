import type { Logger } from "../../logging/logger.ts";
import { isUserAccount } from "../../model/account_name.ts";
import type { Clock, Stopwatch } from "../../model/clock.ts";
import { type Authorization, type Credentials, valuesOfUser } from "../../model/credentials.ts";
import { sameName } from "../../model/distinguished_name.ts";
import type { Identity } from "../../model/identity.ts";
import { type HttpError, httpError } from "../../model/http_error.ts";
import type { SemaphoreWaiter } from "../../model/fair_semaphore.ts";
import { watchBytes, type WatchedFile } from "../../watch/watched_file.ts";
import { watchLines } from "../../watch/whole_lines.ts";
import type { AuthenticationResult, Authenticator } from "../authenticator.ts";
import type { AuthorizedKey } from "./authorized_keys.ts";
import { waiterOf } from "../requester_of.ts";
import { EntryFingerprints } from "../credential_fingerprint.ts";
import { isSignedBy, TokenVerifier } from "../jws_signature.ts";
import { CLOCK_TOLERANCE, InvalidToken } from "../signed_token.ts";
import type { AccountStatus, UserReference } from "../account_status.ts";
import {
  type CertificateOptions,
  type CertifiedUsers,
  openCertifiedUsers,
} from "./certificate/certified_users.ts";
import { readRevokedKeys, type RevokedKeys } from "./certificate/revoked_keys.ts";
import { type KeysFile, nameFromTemplate, parseKeysFile } from "./keys_file.ts";
import { type KeyCacheTimes, KeyDirectory, type KeySource } from "./key_directory.ts";
import {
  isLegacySignedBy,
  KeyTrial,
  LegacyTokenUses,
  likelyKeyType,
  type Proof,
  readLegacyToken,
  readSshToken,
} from "./key_trial.ts";
import { decoyKey, type SshKeyType, type SshPublicKey } from "./public_key.ts";

export interface SshKeyOptions {
  readonly name: string;
  readonly file?: string;
  readonly dnTemplate: string;
  /** Servers whose daemons report keys; empty without `useAuthorizedKeys`. */
  readonly sources: readonly KeySource[];
  readonly times: KeyCacheTimes;
  readonly certificates?: CertificateOptions; // absent: no certificates
  readonly maxLifetime: number; // longest remaining lifetime of a token, in seconds
  readonly legacyToken: boolean; // whether to accept the header token of Java clients up to 2.2.2
  readonly serverName: () => string; // expected `aud`: the DN of the current certificate
  readonly clock: Clock;
  readonly elapsed?: Stopwatch;
  readonly log: Logger;
}

/**
 * Authenticates by SSH key, from the keys file and daemons; a user in the file has no other keys.
 * @throws What {@link watchLines} throws for the keys file.
 */
export async function sshKey(options: SshKeyOptions): Promise<Authenticator> {
  const file = options.file === undefined
    ? undefined
    : await watchLines(options.file, parseKeysFile, { what: "keys file", log: options.log });
  const revoked = options.certificates?.revoked === undefined
    ? undefined
    : await watchBytes(options.certificates.revoked, readRevokedKeys, { log: options.log });
  const directory = new KeyDirectory(options.sources, options.times, options);
  const ownKeys = (account: string, waiter: SemaphoreWaiter) => keysIn(directory, account, waiter);
  const { name, dnTemplate, clock, log } = options;
  const certified = options.certificates &&
    await openCertifiedUsers(options.certificates, { name, dnTemplate, clock, log, revoked, ownKeys });
  return new SshKeyAuthenticator(options, { file, revoked, certified, directory });
}

class SshKeyAuthenticator implements Authenticator {
  readonly challenges: readonly ("Basic" | "Bearer")[] = ["Bearer"];
  readonly acceptsSshKeys = true;
  readonly #verifier = new TokenVerifier();
  readonly #legacyUses: LegacyTokenUses;

  constructor(
    readonly options: SshKeyOptions,
    readonly opened: {
      readonly file: WatchedFile<KeysFile> | undefined;
      readonly revoked: WatchedFile<RevokedKeys> | undefined;
      readonly certified: CertifiedUsers | undefined;
      readonly directory: KeyDirectory;
    },
  ) {
    this.#legacyUses = new LegacyTokenUses(options.elapsed);
  }

  get certificates(): CertifiedUsers | undefined {
    return this.opened.certified;
  }

  get name(): string {
    return this.options.name;
  }

  async authenticate(credentials: Credentials, signal: AbortSignal): Promise<AuthenticationResult> {
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
    // Checked before a daemon sees the name (credentials.md 3.10).
    if (!isUserAccount(proof.user)) {
      return { kind: "refused", reason: "the user name cannot be a user's account" };
    }
    const trial = new KeyTrial(proof, clientAddress, this.options.clock(), this.opened.revoked?.current);
    return await this.#verify(trial, waiterOf(credentials, signal));
  }

  /** Checks the keys file if it lists the user, else the daemons. */
  async accountStatusOf(
    { dn, uid, login = uid, credential }: UserReference,
    signal: AbortSignal,
  ): Promise<AccountStatus> {
    if (login === undefined) {
      const named = this.opened.file?.current.keys.values().some((keys) =>
        keys.some((key) => sameName(key.dn, dn))
      );
      return { kind: named ? "known" : "cannot tell" };
    }
    const counts = (key: AuthorizedKey) => credential === undefined || this.#isLive(key, login, credential);
    if ((await this.certificates?.keysNaming(login, dn))?.some(counts)) return { kind: "known" };
    if (this.options.certificates?.only) return { kind: "gone" };
    const fromFile = this.opened.file?.current.keys.get(login);
    if (fromFile !== undefined) {
      return { kind: fromFile.some((key) => sameName(key.dn, dn) && counts(key)) ? "known" : "gone" };
    }
    if (!isUserAccount(login) || !sameName(nameFromTemplate(this.options.dnTemplate, login), dn)) {
      return { kind: "gone" };
    }
    const { confirmed, failed } = await this.opened.directory.confirm(
      login,
      async (keys) =>
        keys.some(counts) || (await this.certificates?.keysUnder(login, keys))?.some(counts) === true,
      { queueKey: `account status of ${login}`, known: true, signal }, // for a verified token
    );
    if (confirmed.length > 0) return { kind: "known", servers: [...confirmed, ...failed] };
    if (failed.length > 0) throw notLookedUp(failed);
    return { kind: "gone" };
  }

  /** Reports whether a key is that of a login and still valid, from any address. */
  #isLive(
    { publicKey, conditions: { expires = Infinity } }: AuthorizedKey,
    login: string,
    credential: string,
  ): boolean {
    return FINGERPRINTS.of(publicKey, login) === credential && this.options.clock() / 1000 < expires + 1 &&
      this.opened.revoked?.current.revokesKey(publicKey) !== true;
  }

  namesOf(login: string, anyCase = false): readonly string[] {
    if (!isUserAccount(login)) return [];
    const keys = this.opened.file?.current.keys ?? new Map<never, never>();
    const names = valuesOfUser(keys, login, anyCase).flat().map(({ dn }) => dn);
    const isLookedUp = !keys.has(login) && this.options.sources.length > 0;
    return [...new Set([...names, ...isLookedUp ? [nameFromTemplate(this.options.dnTemplate, login)] : []])];
  }

  lists(login: string): boolean {
    return this.opened.file?.current.keys.has(login) === true || this.opened.directory.hasKeys(login);
  }

  close(): void {
    this.opened.file?.close();
    this.certificates?.close();
    this.opened.revoked?.close();
    this.opened.directory.close();
  }

  async #verify(trial: KeyTrial, waiter: SemaphoreWaiter): Promise<AuthenticationResult> {
    const { user } = trial.proof;
    const certified = await this.certificates?.keysFor(trial);
    const byCertificate = certified && await trial.find(certified.keys);
    if (certified !== undefined && byCertificate !== undefined) {
      return this.#accept(trial, byCertificate, certified.identity);
    }
    if (this.options.certificates?.only) return await this.#refuse(trial, certified?.failure);
    const fromFile = this.opened.file?.current.keys.get(user);
    if (fromFile !== undefined) {
      const key = await trial.find(fromFile);
      if (key !== undefined) return this.#accept(trial, key, { dn: key.dn });
    } else {
      let key: AuthorizedKey | undefined;
      const { confirmed, failed } = await this.opened.directory.confirm(
        user,
        async (keys) => {
          const found = await trial.find(keys) ??
            await trial.find(await this.certificates?.keysUnder(user, keys, trial) ?? []);
          key ??= found;
          return found !== undefined;
        },
        waiter,
      );
      if (confirmed.length > 0 && key !== undefined) {
        const dn = nameFromTemplate(this.options.dnTemplate, user);
        return this.#accept(trial, key, { dn, uidServers: confirmed });
      }
      if (failed.length > 0) {
        await trial.finish();
        throw notLookedUp(failed);
      }
    }
    return await this.#refuse(trial, certified?.failure);
  }

  /** @param failure Error of reading certificates, which might have allowed the login. */
  async #refuse(trial: KeyTrial, failure: unknown): Promise<AuthenticationResult> {
    await trial.finish();
    if (failure !== undefined) throw failure;
    return { kind: "refused", reason: trial.reason };
  }

  #accept(
    { proof }: KeyTrial,
    { publicKey }: AuthorizedKey,
    name: Pick<Identity, "dn" | "uid" | "uidServers">,
  ): AuthenticationResult {
    const reason = proof.admit?.();
    if (reason !== undefined) return { kind: "refused", reason };
    const { user } = proof;
    return {
      kind: "accepted",
      identity: {
        method: "SSHKEY",
        via: this.name,
        login: user,
        uid: user,
        role: "user",
        credential: FINGERPRINTS.of(publicKey, user),
        authTime: proof.made,
        ...name,
      },
    };
  }

  #tokenProof(text: string): Proof {
    const { clock, maxLifetime: seconds, name, serverName } = this.options;
    const setting = `container.security.rest.authentication.${name}.maxTokenLifetime`;
    const rules = { now: clock(), audience: serverName(), maxLifetime: { seconds, setting } };
    const token = readSshToken(text, rules);
    const [now, issued] = [rules.now / 1000, token.claims.get("iat")];
    return {
      user: token.user,
      made: typeof issued === "number" && issued <= now + CLOCK_TOLERANCE ? Math.min(issued, now) : undefined,
      fits: ({ type }) => type === token.keyType,
      isMadeBy: ({ key, fingerprint }) => this.#verifier.isSignedBy(token, key, fingerprint),
      verifyDecoy: () => isSignedBy(token, decoyKey(token.keyType)),
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
      verifyDecoy: () => Promise.resolve(isLegacySignedBy(token, { type: keyType, key: decoyKey(keyType) })),
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

const FINGERPRINTS = new EntryFingerprints<SshPublicKey>("key", ({ fingerprint }) => fingerprint);

function family(type: SshKeyType): string {
  return type.startsWith("ecdsa-") ? "ecdsa" : type;
}

/** Returns all keys that daemons report. @throws {ERR_KEY_LOOKUP_FAILED} If none is found and a daemon fails. */
async function keysIn(
  directory: KeyDirectory,
  account: string,
  waiter: SemaphoreWaiter,
): Promise<readonly AuthorizedKey[]> {
  const found: AuthorizedKey[] = [];
  const { failed } = await directory.confirm(account, (keys) => {
    found.push(...keys);
    return Promise.resolve(false); // waits for all servers
  }, waiter);
  if (found.length === 0 && failed.length > 0) throw notLookedUp(failed);
  return found;
}

function notLookedUp(servers: readonly string[]): HttpError {
  return httpError("ERR_KEY_LOOKUP_FAILED", `Users' keys cannot be read from ${servers.join(", ")}`);
}
