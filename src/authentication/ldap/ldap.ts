import { attempt } from "../../model/attempt.ts";
import { type Answer, AnswerCache } from "../../model/answer_cache.ts";
import { type Clock, epochSeconds } from "../../model/clock.ts";
import type { Credentials } from "../../model/credentials.ts";
import { confusable } from "../../model/confusables.ts";
import { sameName } from "../../model/distinguished_name.ts";
import type { BindResult } from "../../outgoing/ldap/ldap_connection.ts";
import { LdapDirectory, type LdapParts } from "../../outgoing/ldap/ldap_directory.ts";
import { type LdapEntry, lockOf, nameOf, passwordChange } from "../../outgoing/ldap/ldap_entry.ts";
import type { RemoteStatus, Requester } from "../../outgoing/remote_system.ts";
import { fillName, namesIn } from "../../model/name_template.ts";
import type { AccountStatus, UserReference } from "../account_status.ts";
import { requesterOf } from "../requester_of.ts";
import type { AuthenticationResult, Authenticator } from "../authenticator.ts";
import { checkIdentity, NoIdentity } from "../check_identity.ts";
import { passwordForProvider } from "../parse_credentials.ts";
import { credentialFingerprint } from "../credential_fingerprint.ts";
import type { KindConfig } from "../../config/service_config.ts";
import type { LdapConfig } from "../../outgoing/ldap/ldap_keys.ts";

export type LdapAuthenticatorConfig = LdapConfig & KindConfig & {
  readonly derivedLifetime: number | undefined;
};

const GOOD_MS = 60_000; // cache time of good results
const BAD_MS = 5_000; // likewise, of bad ones
const STATUS_MS = 10_000;

/** Facts of a user for {@link AccountStatus}. */
interface UserFacts {
  readonly dn: string | undefined;
  readonly credential: string | undefined;
  readonly locked: boolean;
}

/** User names and passwords of an LDAP server: searches for the user's entry, then binds as it (RFC 4513, 5.1.3). */
export class LdapAuthenticator implements Authenticator {
  readonly name: string;
  readonly challenges = ["Basic"] as const;
  readonly derivedLifetime: number | undefined;
  readonly #directory: LdapDirectory;
  readonly #attributes: readonly string[];
  readonly #cache: AnswerCache<AuthenticationResult>;
  readonly #statuses: AnswerCache<UserFacts | undefined>;
  /** Name of an entry that does not exist, so that logins of unknown users take as many requests as others. */
  readonly #decoyDn: string;

  constructor(
    readonly config: LdapAuthenticatorConfig,
    readonly parts: LdapParts & { readonly sharedClock?: Clock },
  ) {
    this.name = config.name;
    this.derivedLifetime = config.derivedLifetime;
    this.#directory = new LdapDirectory(config, { ...parts, log: parts.log.child({ method: config.name }) });
    this.#attributes = namesIn(config.dnTemplate ?? "");
    this.#cache = new AnswerCache({ ...parts, guessable: true });
    this.#statuses = new AnswerCache(parts);
    this.#decoyDn = `cn=${crypto.randomUUID()},${config.userBase}`;
  }

  async authenticate(credentials: Credentials, signal: AbortSignal): Promise<AuthenticationResult> {
    const passed = passwordForProvider(credentials);
    if ("kind" in passed) return passed;
    const { user, password } = passed;
    return await this.#cache.get([user, password], async (signal, key) => {
      return await this.#logIn(user, password, requesterOf(credentials, key, signal));
    }, signal);
  }

  async accountStatusOf(user: UserReference, signal: AbortSignal): Promise<AccountStatus> {
    const facts = await this.#statuses.get(
      user.login === undefined ? ["name", user.dn] : ["login", user.login],
      async (signal) => ({ value: await this.#factsOf(user, signal), good: true, lifetimeMs: STATUS_MS }),
      signal,
    );
    const counts = facts?.dn !== undefined && !facts.locked && sameName(facts.dn, user.dn) &&
      (user.credential === undefined || user.credential === facts.credential);
    return { kind: counts ? "known" : "gone" };
  }

  /** Predicts a name if the template has one attribute, which users type. */
  namesOf(login: string): readonly string[] {
    const [typed = "", other] = this.#attributes;
    const isSure = other === undefined && this.#directory.compared.includes(typed);
    const name = fillName(this.config.dnTemplate ?? "", () => login);
    return isSure && name !== undefined && confusable(login) === undefined ? [name] : [];
  }

  status(address?: string): RemoteStatus {
    return this.#directory.status(address) ?? { remote: "", up: true };
  }

  close(): void {
    this.#cache.close();
    this.#statuses.close();
    this.#directory.close();
  }

  async #logIn(user: string, password: string, caller: Requester): Promise<Answer<AuthenticationResult>> {
    return await this.#directory.ask(caller, async (server) => {
      const found = await this.#directory.findUser(user, this.#attributes, { server, caller });
      const dn = found.kind === "found" ? found.entry.dn : this.#decoyDn;
      const bound = await server.bind(dn, password, caller);
      if (found.kind !== "found") {
        return refused(found.kind === "none" ? "no such user" : "userFilter finds several entries");
      }
      const reason = refusalOf(bound, found.entry, this.parts.clock());
      return reason === undefined ? this.#accepted(user, found.entry) : refused(reason);
    });
  }

  #accepted(user: string, entry: LdapEntry): Answer<AuthenticationResult> {
    const { clock, sharedClock = clock } = this.parts;
    return attempt(
      (): Answer<AuthenticationResult> => {
        const dn = checkIdentity(nameOf(entry, this.config.dnTemplate) ?? "");
        const [proved, credential] = [epochSeconds(sharedClock), credentialOf(user, entry)];
        const identity = { dn, method: "LDAP", via: this.name, login: user, proved, credential };
        return { value: { kind: "accepted", identity }, good: true, lifetimeMs: GOOD_MS };
      },
      NoIdentity,
      ({ message }) => refused(message),
    );
  }

  async #factsOf({ login, dn }: UserReference, signal: AbortSignal): Promise<UserFacts | undefined> {
    // Known users: their addresses do not matter.
    const caller = { queueKey: dn, known: true, credential: dn, address: dn, signal };
    return await this.#directory.ask(caller, async (server) => {
      const found = login === undefined
        ? await this.#directory.findName(dn, this.#attributes, { server, caller })
        : await this.#directory.findUser(login, this.#attributes, { server, caller });
      if (found.kind !== "found") return undefined;
      const { entry } = found;
      return {
        dn: nameOf(entry, this.config.dnTemplate),
        credential: login === undefined ? undefined : credentialOf(login, entry),
        locked: lockOf(entry, this.parts.clock()) !== undefined,
      };
    });
  }
}

function refused(reason: string): Answer<AuthenticationResult> {
  return { value: { kind: "refused", reason }, good: false, lifetimeMs: BAD_MS };
}

/** Returns a fingerprint that changes with the password if the server shows when it was changed. */
function credentialOf(login: string, entry: LdapEntry): string {
  return credentialFingerprint(passwordChange(entry) ?? "", "password", login);
}

/** Errors of the password policy (draft-behera-ldap-password-policy, 6.2). */
const POLICY_ERRORS = ["the password has expired", "the account is locked", "the password must be changed"];

/** Sub-codes of result 49 of Active Directory. */
const DATA_CODES: Readonly<Record<string, string>> = {
  "525": "no such user",
  "530": "logins are not permitted at this time",
  "531": "logins are not permitted at this computer",
  "532": "the password has expired",
  "533": "the account is disabled",
  "701": "the account has expired",
  "773": "the password must be changed",
  "775": "the account is locked",
};

/** Returns why a login is refused, for the log; `undefined` if it is accepted. */
function refusalOf({ code, text, policy }: BindResult, entry: LdapEntry, now: number): string | undefined {
  const byPolicy = policy === undefined ? undefined : POLICY_ERRORS[policy];
  if (code === 0) {
    const lock = lockOf(entry, now, true);
    // A password that must be changed permits nothing else; an expired one may have grace logins.
    return policy === 2 ? byPolicy : lock && `the account is ${lock}`;
  }
  const [, data = ""] = /\bdata ([0-9a-f]{3,4})\b/i.exec(text) ?? [];
  const lock = lockOf(entry, now);
  const meaning = byPolicy ?? DATA_CODES[data] ?? (lock && `the account is ${lock}`) ?? "wrong password";
  return `${meaning} (code ${code}${data === "" ? "" : `, data ${data}`})`;
}
