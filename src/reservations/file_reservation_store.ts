import { editFile, type EditOutcome, FileNotChanged, readText } from "../model/edit_file.ts";
import type { Reservation } from "./reservation.ts";
import { type ReadingContext, readReservationFile, type ReservationFile } from "./reservation_file.ts";
import {
  nameTaken,
  type NewReservation,
  noneOfName,
  readNewReservation,
  type ReservationStore,
} from "./reservation_store.ts";

const EMPTY = '{ "reservations": [] }';

/** Reservations in a file, created on demand; changes keep its other content. @throws {FileNotChanged} */
export class FileReservationStore implements ReservationStore {
  readonly file: string;

  constructor(readonly context: ReadingContext) {
    this.file = context.file;
  }

  async list(): Promise<ReservationFile> {
    return readReservationFile(await readText(this.file) ?? EMPTY, this.context);
  }

  async add(entry: NewReservation): Promise<EditOutcome & { readonly reservation: Reservation }> {
    const reservation = readNewReservation(entry, this.context);
    const { name, from, to, uids, rateLimit } = entry;
    const outcome = await this.#change((entries) => {
      if (entries.some((other) => nameOf(other) === name)) throw nameTaken(name);
      return [...entries, { name, from, to, uids, rateLimit }];
    });
    return { ...outcome, reservation };
  }

  async remove(name: string): Promise<EditOutcome> {
    return await this.#change((entries) => {
      const rest = entries.filter((entry) => nameOf(entry) !== name);
      if (rest.length === entries.length) throw noneOfName(name);
      return rest;
    });
  }

  /** Changes the file's entries; invalid ones stay as they are. */
  async #change(edit: (entries: readonly unknown[]) => readonly unknown[]): Promise<EditOutcome> {
    return await editFile(this.file, (text = EMPTY) => {
      readReservationFile(text, this.context);
      const content: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
      if (!hasReservations(content)) throw new FileNotChanged(`${this.file} has no array of reservations`);
      return `${JSON.stringify({ ...content, reservations: edit(content.reservations) }, null, 2)}\n`;
    }, { secret: false });
  }
}

function hasReservations(content: unknown): content is { readonly reservations: readonly unknown[] } {
  return typeof content === "object" && content !== null && "reservations" in content &&
    Array.isArray(content.reservations);
}

function nameOf(entry: unknown): unknown {
  return typeof entry === "object" && entry !== null && "name" in entry ? entry.name : undefined;
}
