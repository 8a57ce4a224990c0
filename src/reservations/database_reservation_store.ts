import { type Database, type Row, row, rows, type Work } from "../store/database.ts";
import type { Reservation } from "./reservation.ts";
import type { ReadingContext, ReservationFile } from "./reservation_file.ts";
import {
  nameTaken,
  type NewReservation,
  noneOfName,
  readNewReservation,
  type ReservationStore,
} from "./reservation_store.ts";

const SQL = {
  list: `SELECT * FROM reservation WHERE server = :server ORDER BY starts, name, id`,
  named: `SELECT id FROM reservation WHERE server = :server AND name = :name`,
  same:
    `SELECT id FROM reservation WHERE server = :server AND name = :name AND starts = :starts AND ends = :ends
           AND uids = :uids AND rate_limit = :rate AND limit_text = :text`,
  insert: `INSERT INTO reservation (id, server, name, starts, ends, uids, rate_limit, limit_text)
           VALUES (:id, :server, :name, :starts, :ends, :uids, :rate, :text)`,
  remove: `DELETE FROM reservation WHERE server = :server AND name = :name RETURNING id`,
} as const;

/** Reservations of one logical server in a shared database. All methods throw {@link DatabaseFailure}. */
export class DatabaseReservationStore implements ReservationStore {
  constructor(
    readonly database: Database,
    readonly server: string,
    readonly context: Omit<ReadingContext, "file">,
  ) {}

  async list(): Promise<ReservationFile> {
    const { server } = this;
    const found = await this.database.read(() => rows(SQL.list, { server }));
    return { reservations: found.map(toReservation), diagnostics: [] };
  }

  async add(entry: NewReservation): Promise<{ reservation: Reservation; remarks: readonly string[] }> {
    const { server } = this;
    const reservation = readNewReservation(entry, { ...this.context, file: "reservation" });
    const { name } = reservation;
    await this.#change(function* () {
      if ((yield* row(SQL.named, { server, name: storable(name) })) !== undefined) throw nameTaken(name);
      yield* insert(server, reservation);
    });
    return { reservation, remarks: [] };
  }

  async remove(name: string): Promise<{ remarks: readonly string[] }> {
    const { server } = this;
    await this.#change(function* () {
      const removed = yield* rows(SQL.remove, { server, name: storable(name) });
      if (removed.length === 0) throw noneOfName(name);
    });
    return { remarks: [] };
  }

  /** Adds the missing reservations. Returns how many were added, and how many were present. */
  async copy(all: readonly Reservation[]): Promise<{ readonly added: number; readonly present: number }> {
    const { server } = this;
    const added = await this.#change(function* () {
      let added = 0;
      for (const reservation of all) {
        if ((yield* row(SQL.same, columns(server, reservation))) !== undefined) continue;
        yield* insert(server, reservation);
        added++;
      }
      return added;
    });
    return { added, present: all.length - added };
  }

  /** Serialises changes: a name is looked up before it is taken. */
  #change<T>(work: () => Work<T>): Promise<T> {
    return this.database.change(work, { alone: `reservations of ${this.server}` });
  }
}

function* insert(server: string, reservation: Reservation): Work<void> {
  yield* rows(SQL.insert, { id: crypto.randomUUID(), ...columns(server, reservation) });
}

function columns(server: string, { name, from, to, uids, rateLimit, limitText }: Reservation) {
  return {
    server,
    name: storable(name),
    starts: from,
    ends: to,
    uids: JSON.stringify(uids),
    rate: rateLimit,
    text: storable(limitText),
  };
}

/** Databases store no NUL. */
function storable(text: string): string {
  return text.replaceAll("\0", "\ufffd");
}

/** Converts a table row to a reservation. */
export function toReservation(found: Row): Reservation {
  const uids: unknown = JSON.parse(String(found["uids"]));
  return {
    name: String(found["name"]),
    from: Number(found["starts"]),
    to: Number(found["ends"]),
    uids: Array.isArray(uids) ? uids.map(String) : [],
    rateLimit: Number(found["rate_limit"]),
    limitText: String(found["limit_text"]),
  };
}
