import { InvalidFile } from "../model/problem.ts";
import type { Reservation } from "./reservation.ts";
import { type ReadingContext, readReservationFile, type ReservationFile } from "./reservation_file.ts";

/** A reservation as an operator enters it; texts as in the file. */
export interface NewReservation {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly uids: readonly string[];
  /** Default `10m`. */
  readonly rateLimit?: string;
}

/** A change that cannot be made; the message is for the operator. */
export class ReservationNotChanged extends Error {
  override readonly name = "ReservationNotChanged";
}

const EMPTY = '{ "reservations": [] }';

/** All entries of a reservations file, also those that are over; none if there is no file. @throws {InvalidFile} */
export async function listReservations(context: ReadingContext): Promise<ReservationFile> {
  return readReservationFile(await readText(context.file) ?? EMPTY, context);
}

/**
 * Adds an entry to a reservations file, which is made if there is none. All that is not changed stays.
 * @returns The new entry, as the service will read it.
 * @throws {ReservationNotChanged} If the name is taken. @throws {InvalidFile} If the file or the entry is not valid.
 */
export async function addReservation(entry: NewReservation, context: ReadingContext): Promise<Reservation> {
  const { name, from, to, uids, rateLimit } = entry;
  if (name.trim() === "") throw new ReservationNotChanged("A reservation needs a name");
  const added = { name, from, to, uids, ...(rateLimit === undefined ? {} : { rateLimit }) };
  const checked = readReservationFile(JSON.stringify({ reservations: [added] }), context);
  const [reservation] = checked.reservations;
  if (reservation === undefined) {
    throw new InvalidFile(checked.problems.map(({ line: _, ...problem }) => problem));
  }
  await change(context, (entries) => {
    if (entries.some((other) => nameOf(other) === name)) {
      throw new ReservationNotChanged(`There is already a reservation named '${name}'`);
    }
    return [...entries, added];
  });
  return reservation;
}

/** Removes the entries of that name. @throws {ReservationNotChanged} If there is none. @throws {InvalidFile} */
export async function removeReservation(name: string, context: ReadingContext): Promise<void> {
  await change(context, (entries) => {
    const rest = entries.filter((entry) => nameOf(entry) !== name);
    if (rest.length === entries.length) {
      throw new ReservationNotChanged(`There is no reservation named '${name}'`);
    }
    return rest;
  });
}

/**
 * Writes a new file beside the old one and puts it in its place: readers see the one or the other, never a part. Changes
 * made by this function at the same time wait for each other.
 */
async function change(
  context: ReadingContext,
  edit: (entries: readonly unknown[]) => readonly unknown[],
): Promise<void> {
  const { file } = context;
  using _lock = await lock(file);
  const text = await Deno.readTextFile(file);
  readReservationFile(text, context); // what is not valid is not rewritten
  const content: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
  if (!hasReservations(content)) throw new ReservationNotChanged(`${file} has no array of reservations`);
  const after = { ...content, reservations: edit(content.reservations) };

  const target = await Deno.realPath(file);
  const draft = `${target}.${crypto.randomUUID()}.tmp`;
  try {
    await Deno.writeTextFile(draft, `${JSON.stringify(after, null, 2)}\n`, { createNew: true });
    await takeOverOwner(target, draft);
    await flush(draft);
    await Deno.rename(draft, target);
  } catch (error) {
    await Deno.remove(draft).catch(() => {});
    throw error;
  }
}

/** Locks the file, which is made if there is none; the system unlocks it when it is closed, also after a crash. */
async function lock(file: string): Promise<Deno.FsFile> {
  for (;;) {
    const handle = await openOrCreate(file);
    await handle.lock(true);
    const [held, current] = [await handle.stat(), await Deno.stat(file)];
    if (held.ino === current.ino && held.dev === current.dev) return handle;
    handle.close(); // replaced while we waited
  }
}

async function openOrCreate(file: string): Promise<Deno.FsFile> {
  try {
    return await Deno.open(file);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  try {
    await Deno.writeTextFile(file, EMPTY, { createNew: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
  return await Deno.open(file);
}

/** The service must be able to read the new file as it could the old one, also if root made the change. */
async function takeOverOwner(from: string, to: string): Promise<void> {
  const [old, made] = [await Deno.stat(from), await Deno.stat(to)];
  if (old.mode !== null) await Deno.chmod(to, old.mode & 0o777);
  if (old.uid !== made.uid || old.gid !== made.gid) await Deno.chown(to, old.uid, old.gid);
}

async function flush(file: string): Promise<void> {
  using handle = await Deno.open(file, { write: true });
  await handle.sync();
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function hasReservations(content: unknown): content is { readonly reservations: readonly unknown[] } {
  return typeof content === "object" && content !== null && "reservations" in content &&
    Array.isArray(content.reservations);
}

function nameOf(entry: unknown): unknown {
  return typeof entry === "object" && entry !== null && "name" in entry ? entry.name : undefined;
}
