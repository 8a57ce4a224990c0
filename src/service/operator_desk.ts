import type { DatabaseStatus } from "../store/postgres/postgres_database.ts";
import type { TokenBook } from "../authentication/issued_token/token_book.ts";
import type { Authenticator } from "../authentication/authenticator.ts";
import type { SignIns } from "../authentication/sign_in/sign_ins.ts";
import type { AttributeSource } from "../attributes/attribute_source.ts";
import type { DaemonGroup, InstanceStatus } from "../daemon/daemon_group.ts";
import type { SeenMark, SeenOnce } from "../model/seen_once.ts";
import type { RegisteredInstance } from "../instances/instance_register.ts";
import type { RemoteStatus } from "../outgoing/remote_system.ts";
import type { Ban, BanSubject } from "../regulation/ban.ts";
import type { RegulationNews } from "../regulation/regulation_state.ts";
import type { Regulator } from "../regulation/regulator.ts";
import { isRefusal } from "../model/service_error.ts";
import { type AccountReport, accountReport } from "../resource/admin/account_report.ts";
import type { SharingParts } from "../resource/share/sharing_parts.ts";
import { type TokenEntry, tokenEntry } from "../resource/token_list.ts";
import { type KnownNames, knownNames } from "./known_names.ts";
import type { Together } from "./assembly/open_together.ts";
import type { CertificateFacts } from "./assembly/own_certificate.ts";

/** What the operator, or the supervisor on its own account, can ask a core. Plain data, as are the answers. */
export type DeskQuestion =
  | { readonly about: "status" }
  | { readonly about: "bans" }
  /** Milliseconds since the epoch. */
  | { readonly about: "ban"; readonly subject: BanSubject; readonly until: number }
  | { readonly about: "lift"; readonly subject: BanSubject }
  /** A user as the operator names them: by login, account or distinguished name. */
  | { readonly about: "names"; readonly user: string }
  | { readonly about: "user"; readonly uid: string }
  /** Of a user as the operator names them. */
  | { readonly about: "tokens"; readonly user: string }
  /** Absent id: all of the user. */
  | { readonly about: "revoke"; readonly user: string; readonly id?: string }
  /** What other cores learned, before or meanwhile. */
  | ({ readonly about: "adopt" } & LearnedElsewhere);

/** What others learned of failed logins and bans, and the proofs of possession that they were shown. */
export interface LearnedElsewhere {
  readonly news?: RegulationNews;
  readonly proofs?: readonly SeenMark[];
}

/** What a core answers to each {@link DeskQuestion}. */
export type DeskAnswer =
  | { readonly about: "status"; readonly status: CoreStatus }
  | { readonly about: "bans"; readonly bans: readonly Ban[]; readonly total: number }
  /** Untold: other instances learn of it as soon as the database is back. */
  | { readonly about: "ban"; readonly untold?: boolean }
  | { readonly about: "lift"; readonly lifted: number }
  | { readonly about: "names"; readonly names: KnownNames }
  | { readonly about: "user"; readonly accounts: readonly AccountReport[] }
  /** Absent: nothing is kept of tokens. */
  | { readonly about: "tokens"; readonly tokens?: readonly TokenEntry[] }
  /** Absent: nothing is kept of tokens. */
  | { readonly about: "revoke"; readonly revoked?: RevokedReport }
  | { readonly about: "adopt" };

/** The answer to one question. */
export type AnswerAbout<K extends DeskAnswer["about"]> = DeskAnswer & { readonly about: K };

/** Whether an answer is one to that question. */
export function isAbout<K extends DeskAnswer["about"]>(
  answer: DeskAnswer,
  about: K,
): answer is AnswerAbout<K> {
  return answer.about === about;
}

/** What changes who is kept out: other cores have to follow it. */
export type DeskOrder = DeskQuestion & { readonly about: "ban" | "lift" };

/** Takes what was ordered by page, and what came of it. */
export type Ordered = (order: DeskOrder, answer: DeskAnswer) => void;

/** Tokens that were taken back. */
interface RevokedReport {
  /** Distinguished names of the user, in comparable form; without any nobody is known. */
  readonly names: readonly string[];
  /** How many were listed. */
  readonly ended: number;
}

/** A core's state, for the operator only: it names addresses and reasons. */
export interface CoreStatus {
  readonly servers: readonly {
    readonly name: string;
    readonly usable: boolean;
    readonly instances: readonly InstanceStatus[];
    readonly version?: string;
    readonly sessionLimit?: number;
  }[];
  /** Systems that authenticators use. */
  readonly providers: readonly ({ readonly method: string } & RemoteStatus)[];
  readonly certificate?: CertificateFacts;
  readonly bans: Readonly<Record<Ban["reason"], number>>;
  /** Number of shares; absent without data sharing, and if nobody can tell. */
  readonly shares?: number;
  /** Absent: this instance is alone. */
  readonly together?: TogetherStatus;
}

/** The instances that are one service, and the database between them. */
interface TogetherStatus {
  readonly instances: readonly RegisteredInstance[];
  /** Whether some that serve with the same version have other configurations. */
  readonly configurationsDiffer: boolean;
  readonly database: DatabaseStatus;
}

/** Most bans that are listed. */
const MOST_BANS = 1000;

/** What the desk can tell about. */
interface DeskParts {
  readonly groups: readonly DaemonGroup[];
  readonly methods: readonly Authenticator[];
  readonly attributes: AttributeSource;
  readonly regulator: Regulator;
  readonly signIns: SignIns;
  readonly proofs: SeenOnce;
  readonly certificate: () => CertificateFacts | undefined;
  /** Absent without data sharing. */
  readonly sharing: Pick<SharingParts, "store"> | undefined;
  /** Absent: nothing is kept of tokens. */
  readonly book: TokenBook | undefined;
  /** Absent: this instance is alone. */
  readonly together: Together | undefined;
}

/** Where a core answers its operator. */
export class OperatorDesk {
  constructor(readonly parts: DeskParts) {}

  async answer(question: DeskQuestion): Promise<DeskAnswer> {
    const { regulator } = this.parts;
    switch (question.about) {
      case "status":
        return { about: "status", status: await this.#status() };
      case "bans": {
        const { passwords, tokens, operator } = regulator.memory.banCounts();
        return {
          about: "bans",
          bans: regulator.memory.bans(MOST_BANS),
          total: passwords + tokens + operator,
        };
      }
      case "ban":
        return { about: "ban", untold: await this.#ban(question) };
      case "lift":
        return { about: "lift", lifted: await this.#lift(question.subject) };
      case "names":
        return { about: "names", names: await knownNames(question.user, this.parts) };
      case "user":
        return { about: "user", accounts: await this.#accounts(question.uid) };
      case "tokens":
        return { about: "tokens", tokens: await this.#tokens(question.user) };
      case "revoke":
        return { about: "revoke", revoked: await this.#revoke(question) };
      case "adopt":
        if (question.news !== undefined) regulator.memory.adopt(question.news);
        this.parts.proofs.adopt(question.proofs ?? []);
        return { about: "adopt" };
    }
  }

  /** @returns Whether other instances are still to be told. */
  async #ban({ subject, until }: DeskQuestion & { readonly about: "ban" }): Promise<boolean | undefined> {
    const { regulator, together } = this.parts;
    const told = together && await together.regulation.ban(subject, until);
    if (told === undefined) regulator.memory.ban(subject, until);
    if (told !== false) await this.#signOut(subject);
    return told === false || undefined;
  }

  #lift(subject: BanSubject): Promise<number> | number {
    const { regulator, together } = this.parts;
    return together === undefined ? regulator.memory.lift(subject) : together.regulation.lift(subject);
  }

  /** Signs out the browsers of a user who is banned wherever they are; one of whom no name is known, when it is used next. */
  async #signOut({ names = [], address }: BanSubject): Promise<void> {
    if (address !== undefined) return;
    for (const name of names) await this.parts.signIns.endAllOf(name);
  }

  async #status(): Promise<CoreStatus> {
    const { groups, methods, regulator, certificate, sharing, together } = this.parts;
    const own = certificate();
    const count = await sharing?.store.count().catch(unlessAway);
    return {
      servers: groups.map((group) => {
        const { usable, instances, version, sessionLimit } = group.status();
        return {
          name: group.name,
          usable,
          instances,
          version,
          sessionLimit,
        };
      }),
      providers: methods.flatMap((method) =>
        method.status === undefined ? [] : [{ method: method.name, ...method.status() }]
      ),
      certificate: own,
      bans: regulator.memory.banCounts(),
      shares: count,
      together: together && togetherStatus(together),
    };
  }

  async #tokens(user: string): Promise<readonly TokenEntry[] | undefined> {
    const { book } = this.parts;
    const names = await this.#names(user);
    const lists = book && await Promise.all(names.map((dn) => book.list({ dn })));
    return lists?.flat().map((token) => tokenEntry(token));
  }

  async #revoke(
    { user, id }: DeskQuestion & { readonly about: "revoke" },
  ): Promise<RevokedReport | undefined> {
    const { book } = this.parts;
    if (book === undefined) return undefined;
    const names = await this.#names(user);
    let ended = 0;
    for (const dn of names) {
      ended += id === undefined ? await book.revokeAll({ dn }) : Number(await book.revoke({ dn }, id));
    }
    return { names, ended };
  }

  async #names(user: string): Promise<readonly string[]> {
    return [...new Set((await knownNames(user, this.parts)).names)];
  }

  async #accounts(uid: string): Promise<AccountReport[]> {
    const { signal } = new AbortController();
    return await Promise.all(this.parts.groups.map((group) => accountReport(group, uid, signal)));
  }
}

function togetherStatus({ register, database }: Together): TogetherStatus {
  return {
    instances: register.known,
    configurationsDiffer: register.differ,
    database: database(),
  };
}

/** A number that the store cannot tell now is not told. */
function unlessAway(error: unknown): undefined {
  if (!isRefusal(error, "ERR_SHARE_STORE")) throw error;
}
