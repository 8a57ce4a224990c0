import { formatProblem } from "../../model/problem.ts";
import type { Reservation } from "../../reservations/reservation.ts";
import { hostZone } from "../../reservations/reservation_book.ts";
import {
  addReservation,
  listReservations,
  removeReservation,
} from "../../reservations/reservation_editor.ts";
import type { ReadingContext } from "../../reservations/reservation_file.ts";
import {
  type Command,
  CommandFailed,
  defineCommand,
  defineCommands,
  printRemarks,
  tell,
} from "../command.ts";
import { type Given, WrongUsage } from "../arguments.ts";
import { usableConfiguration } from "../config_option.ts";
import { textTable } from "../text_table.ts";

const OPTIONS = {
  server: { value: "NAME", help: "Logical server; needed where several have reservations" },
} as const;

const MEMBERS = {
  "name": "Name",
  "from": "Start, as 2026-01-05T20:00:00.000Z",
  "to": "End",
  "uids[]": "Unix accounts that are not limited meanwhile",
  "rateLimit": "Limit of all others in bytes per second; 0 is none",
  "limitText": "The same as written",
} as const;

const NAME = { name: "Name of the reservation" };

const list = defineCommand({
  name: "reservations list",
  summary: "List the reservations of a server, those that are over too",
  operands: {},
  options: OPTIONS,
  json: Object.fromEntries(Object.entries(MEMBERS).map(([path, help]) => [`[].${path}`, help])),
}, async (given, io) => {
  const context = await fileOf(given);
  const { reservations, problems } = await listReservations(context);
  for (const problem of problems) io.stderr(`left out: ${formatProblem(problem)}\n`);
  tell(given, io, {
    value: reservations.map(toJson),
    text: reservations.length === 0 ? "There are no reservations\n" : table(reservations, context),
  });
  return problems.length === 0 ? 0 : 1;
});

const add = defineCommand({
  name: "reservations add",
  summary: "Add a reservation; the service takes it over within two seconds",
  details: [
    "Times are 2026-01-05 20:00 or 20:00 in the time zone of the server, or 2026-01-05T20:00:00+0100.",
    "The file is made if there is none.",
  ],
  operands: NAME,
  options: {
    ...OPTIONS,
    from: { value: "TIME", help: "Start" },
    to: { value: "TIME", help: "End" },
    uids: { value: "NAMES", help: "Unix accounts that are not limited meanwhile, with commas between them" },
    limit: { value: "RATE", help: "Limit of all others in bytes per second, with K, M or G", default: "10m" },
  },
  json: { "file": "The file that was changed", ...MEMBERS },
}, async (given, io) => {
  const context = await fileOf(given);
  const [from, to, uids] = [given.text("from"), given.text("to"), given.text("uids")];
  if (from === undefined || to === undefined || uids === undefined) {
    throw new WrongUsage("Expected --from TIME, --to TIME and --uids NAMES");
  }
  const accounts = uids.split(/[\s,]+/).filter((uid) => uid !== "");
  if (accounts.length === 0) throw new WrongUsage("Expected at least one account behind --uids");
  const limit = given.text("limit");
  const { reservation, remarks } = await addReservation({
    name: given.operand("name"),
    from,
    to,
    uids: accounts,
    rateLimit: limit,
  }, context);
  tell(given, io, {
    value: { file: context.file, ...toJson(reservation) },
    text: `Added to ${context.file}:\n${table([reservation], context)}`,
  });
  printRemarks(io, context.file, remarks);
  return 0;
});

const remove = defineCommand({
  name: "reservations remove",
  summary: "Remove the reservations of a name",
  operands: NAME,
  options: OPTIONS,
  json: { "file": "The file that was changed", "name": "As given" },
}, async (given, io) => {
  const context = await fileOf(given);
  const name = given.operand("name");
  const { remarks } = await removeReservation(name, context);
  tell(given, io, {
    value: { file: context.file, name },
    text: `Removed '${name}' from ${context.file}\n`,
  });
  printRemarks(io, context.file, remarks);
  return 0;
});

/** `authserver reservations` */
export const reservations: Command = defineCommands({
  name: "reservations",
  summary: "Manage the reservations of a server",
  details: ["Works with and without a running service."],
  examples: {
    "authserver reservations add course --from 9:00 --to 17:00 --uids ann":
      "Only Ann transfers at full speed today",
    "authserver reservations list": "Those to come, those in force, and those that are over",
  },
  commands: [list, add, remove],
});

/** The reservations file of the server that is meant. @throws {CommandFailed} @throws {WrongUsage} */
async function fileOf(given: Pick<Given<"config" | "server", never>, "text">): Promise<ReadingContext> {
  const { config } = await usableConfiguration(given);
  const wanted = given.text("server");
  if (wanted !== undefined && !config.servers.some(({ name }) => name === wanted)) {
    throw new CommandFailed(`There is no server ${wanted}, expected one of ${names(config.servers)}`);
  }
  const reserving = config.servers.filter(({ name, reservations }) =>
    reservations !== undefined && (wanted === undefined || name === wanted)
  );
  const [only, another] = reserving;
  if (only?.reservations === undefined) {
    const server = wanted ?? "<name>";
    throw new CommandFailed(
      `No reservations there, expected authservice.server.${server}.reservations.enable=true`,
    );
  }
  if (another !== undefined) throw new WrongUsage(`Expected --server NAME, one of ${names(reserving)}`);
  const { file, timeZone } = only.reservations;
  return { file, zone: timeZone ?? hostZone(), now: Date.now() };
}

function names(servers: readonly { readonly name: string }[]): string {
  return servers.map(({ name }) => name).join(", ");
}

function toJson({ from, to, ...rest }: Reservation) {
  return { ...rest, from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

function table(all: readonly Reservation[], { zone, now }: ReadingContext): string {
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
