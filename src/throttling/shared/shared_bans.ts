import { wholeMs } from "../../model/clock.ts";
import { BATCH, type Database, deleteInBatches, type Row, rows } from "../../store/database.ts";
import type { Ban, BanSubject } from "../ban.ts";
import type { Digests } from "./digest.ts";

/** How long instances can find a request to clear failures, in milliseconds. */
const LIFT_MS = wholeMs(86_400_000);

const SQL = {
  ban:
    `INSERT INTO operator_ban (who_user, who_address, names, ends) VALUES (:user, :address, :names, :clock + :lasts)
        ON CONFLICT (who_user, who_address) DO UPDATE SET names = excluded.names, ends = excluded.ends`,
  bans: `SELECT who_user, who_address, names, ends - :clock AS remaining FROM operator_ban
         WHERE ends > :clock ORDER BY who_user, who_address`,
  unban:
    `DELETE FROM operator_ban WHERE (:user = '' OR who_user = :user) AND (:address = '' OR who_address = :address)
          RETURNING ends - :clock AS remaining`,
  forget:
    `DELETE FROM failed_login WHERE (:user = '' OR who_user = :user) AND (:address = '' OR who_address = :address)
           RETURNING name`,
  lift:
    `INSERT INTO operator_lift (id, who_user, who_address, ends) VALUES (:id, :user, :address, :clock + :lasts)`,
  lifts: `SELECT id, who_user, who_address, :clock - ends + :lasts AS age FROM operator_lift
          WHERE ends > :clock ORDER BY ends, id`,
  purgeBans: `DELETE FROM operator_ban WHERE ends <= :clock AND (who_user, who_address) IN (
    SELECT who_user, who_address FROM operator_ban WHERE ends <= :clock ORDER BY ends LIMIT ${BATCH}) RETURNING ends`,
  purgeLifts: `DELETE FROM operator_lift WHERE id IN (
    SELECT id FROM operator_lift WHERE ends <= :clock ORDER BY ends LIMIT ${BATCH}) RETURNING id`,
} as const;

/** Ban with its remaining duration, since clocks differ. */
interface SharedBan extends BanSubject, Pick<Ban, "pending"> {
  readonly lastsMs: number;
}

interface SharedLift {
  readonly id: string;
  readonly subject: BanSubject;
  readonly ageMs: number; // age in milliseconds
}

/** Operator bans in a database. Its methods throw {@link DatabaseFailure}. */
export class SharedBans {
  constructor(readonly database: Database, readonly digests: Digests) {}

  version(): string {
    return `${this.database.version("operator_ban")} ${this.database.version("operator_lift")}`;
  }

  /** Stores bans in place of others of the same subjects. A repeated attempt keeps the later end and adds the names. */
  add(bans: readonly SharedBan[]): Promise<void> {
    return this.database.change(function* () {
      const stored = (yield* rows(SQL.bans, {})).map(toBan);
      for (const { lastsMs, names = [], pending, ...subject } of bans) {
        const other = pending === "tried" ? stored.find((each) => isSameSubject(each, subject)) : undefined;
        yield* rows(SQL.ban, {
          ...columns(subject),
          names: JSON.stringify([...new Set([...names, ...other?.names ?? []])]),
          lasts: wholeMs(Math.max(0, lastsMs, other?.lastsMs ?? 0)),
        });
      }
    }, { lock: "operator bans" });
  }

  /** Removes bans and clears failures everywhere. Returns the numbers of both. */
  lift(subject: BanSubject): Promise<{ readonly bans: number; readonly counts: number }> {
    const id = crypto.randomUUID();
    const digests = this.digests.ofSubject(subject);
    return this.database.change(function* () {
      const lifted = yield* rows(SQL.unban, columns(subject));
      const forgotten = yield* rows(SQL.forget, digests);
      yield* rows(SQL.lift, { id, ...columns(subject), lasts: LIFT_MS });
      return {
        bans: lifted.filter(({ remaining }) => Number(remaining) > 0).length,
        counts: forgotten.length,
      };
    });
  }

  /** Reads all bans, and the lifts of the last day, oldest first. */
  read(): Promise<{ readonly bans: readonly SharedBan[]; readonly lifts: readonly SharedLift[] }> {
    return this.database.read(function* () {
      const bans = (yield* rows(SQL.bans, {})).map(toBan);
      const lifts = (yield* rows(SQL.lifts, { lasts: LIFT_MS })).map((found) => ({
        id: String(found["id"]),
        subject: toSubject(found),
        ageMs: Number(found["age"]),
      }));
      return { bans, lifts };
    });
  }

  async purge(): Promise<void> {
    await deleteInBatches(this.database, SQL.purgeBans);
    await deleteInBatches(this.database, SQL.purgeLifts);
  }
}

function columns({ user = "", address = "" }: BanSubject) {
  return { user: user.replaceAll("\0", "\ufffd"), address };
}

function toSubject(found: Row): BanSubject {
  const [user, address] = [String(found["who_user"]), String(found["who_address"])];
  return { user: user || undefined, address: address || undefined };
}

function toBan(found: Row): SharedBan {
  const names: unknown = JSON.parse(String(found["names"]));
  return {
    ...toSubject(found),
    names: Array.isArray(names) ? names.map(String) : [],
    lastsMs: Number(found["remaining"]),
  };
}

/** Reports whether two bans have the same subject and end. */
export function isSameBan(one: Ban, other: Ban): boolean {
  return isSameSubject(one, other) && one.until === other.until;
}

function isSameSubject(one: BanSubject, other: BanSubject): boolean {
  const [mine, others] = [columns(one), columns(other)];
  return mine.user === others.user && mine.address === others.address;
}
