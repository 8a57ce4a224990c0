import { onError } from "../../model/attempt.ts";
import type { AttributeSource } from "../../attributes/attribute_source.ts";
import type { Authenticator } from "../../authentication/authenticator.ts";
import type { TokenRegistry } from "../../authentication/issued_token/token_registry.ts";
import type { SignIns } from "../../authentication/sign_in/sign_ins.ts";
import type { DaemonGroup } from "../../daemon/daemon_group.ts";
import type { InstanceRegister } from "../../instances/instance_register.ts";
import type { Sinks } from "../../logging/sink.ts";
import { type Clock, isoTime, unlessAborted } from "../../model/clock.ts";
import { HttpError, isHttpError } from "../../model/http_error.ts";
import type { Notifications } from "../../notify/notifications.ts";
import type { DatabaseStatus } from "../../store/postgres/postgres_database.ts";
import type { Ban, BanSubject, Failure } from "../../throttling/ban.ts";
import type { LoginThrottle } from "../../throttling/login_throttle.ts";
import type { SharedThrottling } from "../../throttling/shared/shared_throttling.ts";
import type { ThrottlingUpdate } from "../../throttling/memory.ts";
import { refusedFiles } from "../../watch/watched_file.ts";
import type { SharingParts } from "../share/sharing_parts.ts";
import type { ShareStore } from "../../sharing/store/share_store.ts";
import type { AccountReport } from "./account_report.ts";
import {
  type AdminAnswer,
  type AdminRequest,
  AdminRequestFailed,
  type AdminResult,
  type CoreStatus,
} from "./admin_request.ts";
import { accountStatusOf } from "../../authentication/account_status.ts";
import { canonicalDn, ifValidDn, reversedForm } from "../../model/distinguished_name.ts";

const MAX_BANS = 1000;
const MAX_FAILURES = 50;
/** Longest wait for the number of shares, in milliseconds: callers wait no longer than twice that for the whole status. */
const COUNT_MS = 1000;

interface AdminApiParts {
  readonly clock: Clock;
  readonly groups: readonly DaemonGroup[];
  readonly authenticators: readonly Authenticator[];
  readonly attributes: AttributeSource;
  readonly throttle: LoginThrottle;
  readonly signIns: SignIns;
  readonly certificate: () => CoreStatus["certificate"];
  readonly sharing: Pick<SharingParts, "store"> | undefined; // absent without data sharing
  readonly registry: TokenRegistry | undefined; // absent: the service keeps no list of its tokens
  readonly sinks: Pick<Sinks, "states">;
  /** Absent: no other instances. */
  readonly cluster: {
    readonly register: InstanceRegister;
    readonly database: () => DatabaseStatus;
  } | undefined;
  /** Absent: bans end with the process. */
  readonly storedBans: Pick<SharedThrottling, "ban" | "lift"> | undefined;
  readonly notifications: Pick<Notifications, "ban"> | undefined;
  /** Publishes bans to other cores. */
  readonly publish: (
    update: { readonly throttling: ThrottlingUpdate; readonly signedOut?: readonly string[] },
  ) => void;
  /** Returns a typed user name, or a digest if no user has it: it may be a password. */
  readonly shown: (user: string) => string;
}

/** Answers admin requests from the control socket, the page and `/rest/admin`. */
export class AdminApi {
  constructor(readonly parts: AdminApiParts) {}

  async call(request: AdminRequest): Promise<AdminAnswer> {
    switch (request.command) {
      case "status":
        return { status: await this.status() };
      case "ban list": {
        const { bans, total } = this.bans();
        const listed = bans.map(({ pending: _, ...ban }) => ({ ...ban, until: isoTime(ban.until) }));
        return { result: { bans: listed, total } };
      }
      case "ban add":
        return await this.ban(request.subject, request.seconds);
      case "ban remove":
        return await this.lift(request.subject);
      case "user show":
        return { result: await this.accounts(request.uid) };
      case "token list":
        return { result: await this.#tokens(request.user) };
      case "token revoke":
        return await this.#revoke(request.user, request.id);
      case "reload":
        throw new AdminRequestFailed("A core does not reload itself");
    }
  }

  async status(): Promise<CoreStatus> {
    const { groups, throttle, certificate, sharing, sinks, cluster, registry } = this.parts;
    return {
      servers: groups.map((group) => {
        const { usable, instances, version, sessionLimit } = group.status();
        return { name: group.name, usable, instances, version, sessionLimit };
      }),
      providers: this.#providers(),
      certificate: certificate(),
      bans: throttle.memory.banCounts(),
      sinks: sinks.states,
      refusedFiles: refusedFiles(),
      shares: sharing && await countShares(sharing.store),
      cluster: cluster && {
        instances: cluster.register.known,
        configurationsDiffer: cluster.register.differ,
        database: cluster.database(),
        knowsRevoked: registry?.knowsRevoked ?? true,
      },
    };
  }

  /** Returns the status of identity providers and, as `attributes.<name>`, of attribute sources; of namesakes, one that is down. */
  #providers(): CoreStatus["providers"] {
    const { authenticators, attributes: { sources = [] } } = this.parts;
    const all = [
      ...authenticators.map((each) => [each.name, each.status?.()] as const),
      ...sources.map((each) => [`attributes.${each.name}`, each.status?.()] as const),
    ];
    const statuses = new Map(all.toSorted(([, a], [, b]) => Number(b?.up ?? true) - Number(a?.up ?? true)));
    return [...statuses].flatMap(([authenticator, status]) => status ? { authenticator, ...status } : []);
  }

  /** Lists bans; the total includes those beyond the list. */
  bans(): { readonly bans: readonly Ban[]; readonly total: number } {
    const { memory } = this.parts.throttle;
    const { passwords, tokens, operator } = memory.banCounts();
    return { bans: memory.bans(MAX_BANS), total: passwords + tokens + operator };
  }

  failures(): readonly Failure[] {
    return this.parts.throttle.memory.failures(MAX_FAILURES);
  }

  /** Bans a user, an address, or both together, in all instances, and signs out a banned user's browsers. */
  async ban(whom: BanSubject, seconds: number): Promise<AdminResult> {
    const { clock, throttle: { memory }, storedBans, cluster, signIns, publish, notifications } = this.parts;
    const { user, address } = whom;
    const { names, reversed } = user === undefined
      ? { names: undefined, reversed: undefined }
      : await knownNames(user, { ...this.parts, anyCase: true });
    const subject = { user, address, names };
    const end = clock() + seconds * 1000;
    if (storedBans === undefined) memory.ban(subject, end, "new"); // a reload may configure a database
    const stored = await storedBans?.ban(subject, end);
    const others = cluster?.register.known.filter(({ own }) => !own) ?? [];
    const unaware = others.filter(({ alive }) => stored === false || !alive).map(({ name }) => name);
    // Users without known names are signed out at their next request; so are all while the database accepts no changes.
    const signedOut = stored !== false && address === undefined ? names ?? [] : [];
    publish({ throttling: { asOf: memory.steady(), operator: memory.operatorBansOf(subject) }, signedOut });
    for (const name of signedOut) await signIns.endAllOf(name);
    const until = isoTime(end);
    notifications?.ban("ban.created", { user, address, until });
    return {
      result: { until, names, reversed, unaware, stored },
      change: { event: "ban", facts: { user, address, until }, seconds },
    };
  }

  /** Ends bans and forgets failed logins. */
  async lift(subject: BanSubject): Promise<AdminResult> {
    const { throttle: { memory }, storedBans, cluster, publish } = this.parts;
    const lifted = storedBans ? await storedBans.lift(subject) : memory.lift(subject);
    // In a cluster, the change comes from the database.
    if (cluster === undefined) publish({ throttling: { asOf: memory.steady(), lifted: [subject] } });
    if (lifted === 0) return { result: { lifted } };
    const { user, address } = subject;
    this.parts.notifications?.ban("ban.lifted", { user, address });
    return { result: { lifted }, change: { event: "lift", facts: { user, address }, lifted } };
  }

  /** Asks daemons about a Unix account. @param server Absent: those of all servers. */
  async accounts(
    uid: string,
    server?: string,
    signal = new AbortController().signal,
  ): Promise<readonly AccountReport[]> {
    const groups = this.parts.groups.filter(({ name }) => server === undefined || name === server);
    const { accountReport } = await import("./account_report.ts");
    return await Promise.all(groups.map((group) => accountReport(group, uid, signal)));
  }

  async namesOf(user: string, anyCase = false): Promise<readonly string[]> {
    return (await knownNames(user, { ...this.parts, anyCase })).names;
  }

  async #tokens(user: string) {
    const registry = this.#registry();
    const names = await this.namesOf(user);
    const { tokenEntry } = await import("../token_list.ts");
    const lists = await Promise.all(names.map((dn) => registry.list({ dn })));
    return { tokens: lists.flat().map((token) => tokenEntry(token)) };
  }

  async #revoke(user: string, id: string | undefined): Promise<AdminResult> {
    const registry = this.#registry();
    const { names, ...known } = await knownNames(user, this.parts);
    let ended = 0;
    for (const dn of names) {
      ended += id === undefined
        ? await registry.revokeAll({ dn })
        : Number(await registry.revoke({ dn }, id));
    }
    const unknown = known.unknown ?? (ended === 0 && await this.#isGone(user, names) || undefined);
    const result = { names, ...known, unknown, ended };
    if (names.length === 0 || (id !== undefined && ended === 0)) return { result };
    return { result, change: { event: "revoke", facts: { user, token: id, ended } } };
  }

  /** Reports whether all sources say that a login does not exist: SSHKEY names any. A DN is no login. */
  async #isGone(login: string, names: readonly string[]): Promise<boolean> {
    if (ifValidDn(() => canonicalDn(login)) !== undefined) return false;
    const { signal } = new AbortController();
    const statuses = await Promise.all(
      names.map((dn) =>
        accountStatusOf(this.parts.authenticators, { dn, login }, signal)
          .catch(onError(HttpError, () => undefined))
      ),
    );
    return statuses.every((status) => status?.kind === "gone");
  }

  #registry(): TokenRegistry {
    const { registry } = this.parts;
    if (registry !== undefined) return registry;
    throw new AdminRequestFailed(
      "The service keeps no list of its tokens: expected persistence.directory",
    );
  }
}

/** Counts shares; undefined if the database is down or slow, so that the rest of the status can be shown. */
export function countShares(store: Pick<ShareStore, "count">, withinMs = COUNT_MS) {
  const late = AbortSignal.timeout(withinMs);
  return unlessAborted(store.count(), late).catch((error): undefined => {
    if (!late.aborted && !isHttpError(error, "ERR_SHARE_STORE")) throw error;
  });
}

/** Returns the canonical DNs of a login, account or name; `reversed`: a known user in the other order; `unknown`: no source knows it. */
export async function knownNames(user: string, parts: {
  readonly authenticators: readonly Authenticator[];
  readonly attributes: AttributeSource;
  readonly anyCase?: boolean; // see `Authenticator.namesOf`
}): Promise<{ readonly names: readonly string[]; readonly reversed?: string; readonly unknown?: true }> {
  const all = parts.authenticators.flatMap((authenticator) =>
    authenticator.namesOf?.(user, parts.anyCase) ?? []
  );
  const names = [...new Set(all.map(canonicalDn))];
  const form = ifValidDn(() => canonicalDn(user));
  if (!form) return { names };
  const reversed = reversedForm(user);
  const ask = async (dn: string) => {
    const { signal } = new AbortController();
    const found = await parts.attributes.attributesOf({ dn, method: "", via: "" }, signal);
    if (found.standard.size > 0 || found.extra.size > 0) return "known";
    const { kind } = await accountStatusOf(parts.authenticators, { dn }, signal);
    return found.outage === undefined || kind === "known" ? kind : undefined;
  };
  // A source that is out of order must not prevent a ban.
  const statusOf = (dn: string) => ask(dn).catch(onError(HttpError, () => undefined));
  const status = await statusOf(user);
  const suspect = reversed !== form && status !== "known" && await statusOf(reversed) === "known";
  const unknown = status === "gone" || undefined;
  return { names: [...new Set([...names, form])], reversed: suspect ? reversed : undefined, unknown };
}
