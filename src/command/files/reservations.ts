import type { LogicalServerConfig, ReservationsConfig } from "../../config/service_config.ts";
import { formatDiagnostic } from "../../model/diagnostic.ts";
import type { Reservation } from "../../reservations/reservation.ts";
import { FileReservationStore } from "../../reservations/file_reservation_store.ts";
import { hostZone } from "../../reservations/reservation_registry.ts";
import {
  type Command,
  CommandFailed,
  defineCommand,
  defineCommands,
  type Given,
  printRemarks,
  textTable,
  WrongUsage,
} from "../command.ts";
import { usableConfiguration } from "../config_option.ts";

const OPTIONS = {
  server: { value: "NAME", help: "Logical server; required if several servers have reservations" },
} as const;

const NAME = { name: "Name of the reservation" };

const list = defineCommand({
  name: "reservations list",
  summary: "List the reservations of a server, including past ones",
  operands: {},
  options: OPTIONS,
}, async (given, io) => {
  const { reservations, diagnostics, context } = await withReservations(given, async (store, context) => ({
    ...await store.list(),
    context,
  }));
  for (const diagnostic of diagnostics) io.stderr(`skipped: ${formatDiagnostic(diagnostic)}\n`);
  return {
    value: reservations.map(toJson),
    text: reservations.length === 0 ? "There are no reservations\n" : table(reservations, context),
    status: diagnostics.length === 0 ? 0 : 1,
  };
});

const add = defineCommand({
  name: "reservations add",
  summary: "Add a reservation; the service applies it within two seconds",
  details: [
    "Times are 2026-01-05 20:00 or 20:00 in the time zone of the server, or 2026-01-05T20:00:00+0100.",
    "The command creates the file if necessary. Each instance reads the file on its own host.",
  ],
  operands: NAME,
  options: {
    ...OPTIONS,
    from: { value: "TIME", help: "Start" },
    to: { value: "TIME", help: "End" },
    uids: { value: "NAMES", help: "Unix accounts that the reservation does not limit, separated by commas" },
    limit: {
      value: "RATE",
      help: "Limit for everyone else in bytes per second, with K, M or G",
      default: "10m",
    },
  },
}, async (given, io) => {
  const [from, to, uids] = [given.text("from"), given.text("to"), given.text("uids")];
  if (from === undefined || to === undefined || uids === undefined) {
    throw new WrongUsage("Expected --from TIME, --to TIME and --uids NAMES");
  }
  const accounts = uids.split(/[\s,]+/).filter((uid) => uid !== "");
  if (accounts.length === 0) throw new WrongUsage("Expected at least one account behind --uids");
  const entry = { name: given.operand("name"), from, to, uids: accounts, rateLimit: given.text("limit") };
  return await withReservations(given, async (store, context) => {
    const { reservation, remarks } = await store.add(entry);
    const { file } = store;
    printRemarks(io, file, remarks);
    return {
      value: { file, ...toJson(reservation) },
      text: `Added to ${file}:\n${table([reservation], context)}`,
    };
  });
});

const remove = defineCommand({
  name: "reservations remove",
  summary: "Remove the reservations with a name",
  operands: NAME,
  options: OPTIONS,
}, async (given, io) => {
  const name = given.operand("name");
  return await withReservations(given, async (store) => {
    const { remarks } = await store.remove(name);
    const { file } = store;
    printRemarks(io, file, remarks);
    return { value: { file, name }, text: `Removed '${name}' from ${file}\n` };
  });
});

/** Command `authserver reservations`. */
export const reservations: Command = defineCommands({
  name: "reservations",
  summary: "Manage the reservations of a server",
  details: ["Works with and without a running service."],
  commands: [list, add, remove],
});

interface TimeContext {
  readonly zone: string;
  readonly now: number;
}

/** Works on the reservations of the selected server. @throws {CommandFailed | WrongUsage} */
async function withReservations<T>(
  given: Pick<Given<"config" | "server", never>, "text">,
  work: (store: FileReservationStore, context: TimeContext) => Promise<T>,
): Promise<T> {
  const { config } = await usableConfiguration(given);
  const { file, timeZone } = meant(given.text("server"), config.servers);
  const context = { zone: timeZone ?? hostZone(), now: Date.now() };
  return await work(new FileReservationStore({ ...context, file }), context);
}

/** @throws {CommandFailed} @throws {WrongUsage} */
function meant(wanted: string | undefined, servers: readonly LogicalServerConfig[]): ReservationsConfig {
  if (wanted !== undefined && !servers.some(({ name }) => name === wanted)) {
    throw new CommandFailed(`There is no server ${wanted}, expected one of ${names(servers)}`);
  }
  const reserving = servers.flatMap(({ name, reservations }) =>
    reservations !== undefined && (wanted === undefined || name === wanted) ? [{ name, reservations }] : []
  );
  const [only, another] = reserving;
  if (only === undefined) {
    const server = wanted ?? "<name>";
    throw new CommandFailed(
      `No reservations there, expected authservice.server.${server}.reservations.enable=true and .file`,
    );
  }
  if (another !== undefined) throw new WrongUsage(`Expected --server NAME, one of ${names(reserving)}`);
  return only.reservations;
}

function names(servers: readonly { readonly name: string }[]): string {
  return servers.map(({ name }) => name).join(", ");
}

function toJson({ from, to, ...rest }: Reservation) {
  return { ...rest, from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

function table(all: readonly Reservation[], { zone, now }: TimeContext): string {
  const moment = (at: number) => {
    const time = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
    return `${time.toPlainDate()} ${time.toPlainTime().toString({ smallestUnit: "minute" })}`;
  };
  const state = ({ from, to }: Reservation) => now >= to ? "over" : now >= from ? "active" : "to come";
  const rows = all.map((one) => [
    one.name,
    moment(one.from),
    moment(one.to),
    one.limitText,
    state(one),
    one.uids.join(","),
  ]);
  return textTable([["name", "from", `to (${zone})`, "limit", "state", "accounts"], ...rows]);
}
