import type { DatabaseStatus } from "../store/postgres/postgres_database.ts";
import type { TokenRegistry } from "../authentication/issued_token/token_registry.ts";
import type { Authenticator } from "../authentication/authenticator.ts";
import type { SignIns } from "../authentication/sign_in/sign_ins.ts";
import type { AttributeSource } from "../attributes/attribute_source.ts";
import type { DaemonGroup, InstanceStatus } from "../daemon/daemon_group.ts";
import type { ReplayCache, SeenMark } from "../model/replay_cache.ts";
import type { RegisteredInstance } from "../instances/instance_register.ts";
import type { RemoteStatus } from "../outgoing/remote_system.ts";
import type { Ban, BanSubject } from "../throttling/ban.ts";
import type { ThrottlingNews } from "../throttling/throttling_state.ts";
import type { LoginThrottle } from "../throttling/login_throttle.ts";
import { isHttpError } from "../model/http_error.ts";
import { type AccountReport, accountReport } from "../resource/admin/account_report.ts";
import type { SharingParts } from "../resource/share/sharing_parts.ts";
import { type TokenEntry, tokenEntry } from "../resource/token_list.ts";
import { type KnownNames, knownNames } from "./known_names.ts";
import type { Cluster } from "./assembly/open_cluster.ts";
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
  readonly news?: ThrottlingNews;
  readonly proofs?: readonly SeenMark[];
}

/** What a core answers to each {@link DeskQuestion}. */
export type DeskAnswer =
  | { readonly about: "status"; readonly status: CoreStatus }
  | { readonly about: "bans"; readonly bans: readonly Ban[]; readonly total: number }
  /** Pending: other instances learn of it as soon as the database is back. Unaware: their names, `host:port`. */
  | { readonly about: "ban"; readonly pending?: boolean; readonly unaware?: readonly string[] }
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
  /** Distinguished names of the user, in canonical DN; without any nobody is known. */
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
  readonly providers: readonly ({ readonly authenticator: string } & RemoteStatus)[];
  readonly certificate?: CertificateFacts;
  readonly bans: Readonly<Record<Ban["reason"], number>>;
  /** Number of shares; absent without data sharing, and if nobody can tell. */
  readonly shares?: number;
  /** Absent: this instance is alone. */
  readonly cluster?: ClusterStatus;
}

/** The instances that are one service, and the database between them. */
interface ClusterStatus {
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
  readonly authenticators: readonly Authenticator[];
  readonly attributes: AttributeSource;
  readonly throttle: LoginThrottle;
  readonly signIns: SignIns;
  readonly proofs: ReplayCache;
  readonly certificate: () => CertificateFacts | undefined;
  /** Absent without data sharing. */
  readonly sharing: Pick<SharingParts, "store"> | undefined;
  /** Absent: nothing is kept of tokens. */
  readonly registry: TokenRegistry | undefined;
  /** Absent: this instance is alone. */
  readonly cluster: Cluster | undefined;
}

/** Where a core answers its operator. */
export class OperatorDesk {
  constructor(readonly parts: DeskParts) {}

  async answer(question: DeskQuestion): Promise<DeskAnswer> {
    const { throttle } = this.parts;
    switch (question.about) {
      case "status":
        return { about: "status", status: await this.#status() };
      case "bans": {
        const { passwords, tokens, operator } = throttle.memory.banCounts();
        return {
          about: "bans",
          bans: throttle.memory.bans(MOST_BANS),
          total: passwords + tokens + operator,
        };
      }
      case "ban":
        return await this.#ban(question);
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
        if (question.news !== undefined) throttle.memory.adopt(question.news);
        this.parts.proofs.adopt(question.proofs ?? []);
        return { about: "adopt" };
    }
  }

  async #ban(
    { subject, until }: DeskQuestion & { readonly about: "ban" },
  ): Promise<AnswerAbout<"ban">> {
    const { throttle, cluster } = this.parts;
    if (cluster === undefined) throttle.memory.ban(subject, until);
    const notified = await cluster?.throttling.ban(subject, until) ?? true;
    if (notified) await this.#signOut(subject);
    const others = cluster?.register.known.filter(({ own }) => !own) ?? [];
    const unaware = others.filter(({ alive }) => !notified || !alive).map(({ name }) => name);
    return { about: "ban", pending: !notified || undefined, unaware };
  }

  #lift(subject: BanSubject): Promise<number> | number {
    const { throttle, cluster } = this.parts;
    return cluster === undefined ? throttle.memory.lift(subject) : cluster.throttling.lift(subject);
  }

  /** Signs out the browsers of a user who is banned wherever they are; one of whom no name is known, when it is used next. */
  async #signOut({ names = [], address }: BanSubject): Promise<void> {
    if (address !== undefined) return;
    for (const name of names) await this.parts.signIns.endAllOf(name);
  }

  async #status(): Promise<CoreStatus> {
    const { groups, authenticators, throttle, certificate, sharing, cluster } = this.parts;
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
      providers: authenticators.flatMap((authenticator) =>
        authenticator.status === undefined
          ? []
          : [{ authenticator: authenticator.name, ...authenticator.status() }]
      ),
      certificate: own,
      bans: throttle.memory.banCounts(),
      shares: count,
      cluster: cluster && clusterStatus(cluster),
    };
  }

  async #tokens(user: string): Promise<readonly TokenEntry[] | undefined> {
    const { registry } = this.parts;
    const names = await this.#names(user);
    const lists = registry && await Promise.all(names.map((dn) => registry.list({ dn })));
    return lists?.flat().map((token) => tokenEntry(token));
  }

  async #revoke(
    { user, id }: DeskQuestion & { readonly about: "revoke" },
  ): Promise<RevokedReport | undefined> {
    const { registry } = this.parts;
    if (registry === undefined) return undefined;
    const names = await this.#names(user);
    let ended = 0;
    for (const dn of names) {
      ended += id === undefined
        ? await registry.revokeAll({ dn })
        : Number(await registry.revoke({ dn }, id));
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

function clusterStatus({ register, database }: Cluster): ClusterStatus {
  return {
    instances: register.known,
    configurationsDiffer: register.differ,
    database: database(),
  };
}

/** A number that the store cannot tell now is not told. */
function unlessAway(error: unknown): undefined {
  if (!isHttpError(error, "ERR_SHARE_STORE")) throw error;
}
