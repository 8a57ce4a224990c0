import { counted } from "../../model/counted.ts";
import { InvalidAdminRequest, LONGEST_BAN, subjectOf } from "../../resource/admin/admin_request.ts";
import type { BanSubject } from "../../throttling/ban.ts";
import { type Command, CommandFailed, defineCommand, defineCommands, tell } from "../command.ts";
import { type Given, WrongUsage } from "../arguments.ts";
import { parseDuration } from "../../model/duration.ts";
import { operator } from "./operator.ts";
import { listAt, numberAt, textAt } from "./reply_value.ts";
import { requireRunning, SERVICE_OPTIONS } from "./ask_running.ts";
import { printable } from "../../model/printable.ts";
import { textTable } from "../text_table.ts";

const SUBJECT_OPTIONS = {
  user: { value: "NAME", help: "User name as it is typed at sign-in, account, or distinguished name" },
  address: { value: "ADDRESS", help: "IP address; of IPv6 its /64" },
} as const;

const list = defineCommand({
  name: "ban list",
  summary: "List who has to wait, because of failed logins or by hand",
  operands: {},
  options: SERVICE_OPTIONS,
  json: {
    "bans[].user?": "User name, account or distinguished name",
    "bans[].address?": "IP address; of IPv6 a /64",
    "bans[].names[]?": "Of a ban by hand: distinguished names of the user",
    "bans[].reason": "passwords, tokens or operator (by hand)",
    "bans[].failures": "Failed logins that were counted",
    "bans[].until": "Time of the end, as 2026-01-05T09:15:00.123Z",
    "total": "Number of bans; more than are listed, if they are very many",
  },
}, async (given, io) => {
  const answer = await requireRunning(given, { command: "ban list" });
  tell(given, io, { value: answer, text: banTable(answer) });
  return 0;
});

function banTable(answer: unknown): string {
  const bans = listAt(answer, "bans");
  const rows = bans.map((ban) => [
    textAt(ban, "user") ?? "-",
    textAt(ban, "address") ?? "-",
    textAt(ban, "reason") ?? "",
    String(numberAt(ban, "failures") ?? 0),
    textAt(ban, "until") ?? "",
  ]);
  if (rows.length === 0) return "Nobody is banned\n";
  const more = (numberAt(answer, "total") ?? bans.length) - bans.length;
  const table = textTable([["user", "address", "reason", "failures", "until"], ...rows]);
  return more > 0 ? `${table}and ${more} more\n` : table;
}

const add = defineCommand({
  name: "ban add",
  summary: "Keep a user, an address, or a user at an address out for some time",
  details: [
    "An address is kept out with whatever it shows, from everything but /health/.",
    "A user is kept out with all credentials that name them: by user name, account or distinguished name.",
    "The ban outlives reloads of the configuration, but not a restart of the service. Where several instances share a\n" +
    "database it holds on all of them, and outlives restarts too.",
    "Exit status 3: the ban holds here, but instances that are named do not know of it yet. They learn of it as soon as\n" +
    "the database connects them again.",
  ],
  operands: {},
  options: {
    ...SERVICE_OPTIONS,
    ...SUBJECT_OPTIONS,
    for: { value: "TIME", help: "How long: a number and s, m, h or d", default: "1h" },
  },
  json: {
    "user?": "As given",
    "address?": "As given, in canonical form",
    "until": "Time of the end, as 2026-01-05T09:15:00.123Z",
    "names[]?": "Distinguished names of the user, by which other credentials name them",
    "unaware[]?": "Instances of the service, host:port, that do not know of the ban yet",
    "reversed?": "Nobody is known by the name, but somebody by this one, with its parts in the other order",
  },
}, async (given, io) => {
  const subject = subjectIn(given);
  const seconds = parseDuration(given.text("for") ?? "");
  if (seconds === undefined || seconds > LONGEST_BAN) {
    throw new WrongUsage("Expected a time such as 90s, 30m, 12h or 7d behind --for");
  }
  const answer = await requireRunning(given, {
    command: "ban add",
    subject,
    seconds,
    operator: await operator(),
  });
  tell(given, io, {
    value: { ...subject, ...objectOf(answer) },
    text: `${describe(subject)} banned until ${textAt(answer, "until")}\n`,
  });
  const reversed = textAt(answer, "reversed");
  if (reversed !== undefined) {
    io.stderr(
      "Warning: nobody is known by this name, but somebody by the same parts in the other order, " +
        `which is another name and not banned: ${reversed}\n`,
    );
  }
  const unaware = listAt(answer, "unaware").map(String);
  if (unaware.length === 0) return 0;
  io.stderr(`Warning: these instances do not know of the ban yet: ${printable(unaware.join(", "))}\n`);
  return 3;
});

const remove = defineCommand({
  name: "ban remove",
  summary: "Let a user or an address in again, and forget their failed logins",
  details: [
    "Exit status 1: there was nothing to remove.",
    "With --user alone the user's waits at all addresses end, with --address alone those of all users there.",
  ],
  operands: {},
  options: { ...SERVICE_OPTIONS, ...SUBJECT_OPTIONS },
  json: { "lifted": "Number of bans and of counts of failed logins that were removed" },
}, async (given, io) => {
  const subject = subjectIn(given);
  const answer = await requireRunning(given, { command: "ban remove", subject, operator: await operator() });
  const lifted = numberAt(answer, "lifted") ?? 0;
  if (lifted === 0) throw new CommandFailed(`${describe(subject)}: no ban and no failed login is known`);
  const what = counted(lifted, "ban or count", "bans and counts");
  tell(given, io, { value: { lifted }, text: `${describe(subject)}: ${what} removed\n` });
  return 0;
});

/** `authserver ban` */
export const ban: Command = defineCommands({
  name: "ban",
  summary: "Show, impose and lift bans of users and addresses",
  examples: {
    "authserver ban add --address 192.0.2.7 --for 2h": "Keeps an address out for two hours",
    "authserver ban remove --user ann": "Lets a user in again who mistyped too often",
  },
  commands: [list, add, remove],
});

function subjectIn(given: Given<"user" | "address", never>): BanSubject {
  try {
    return subjectOf({ user: given.text("user"), address: given.text("address") });
  } catch (error) {
    if (error instanceof InvalidAdminRequest) throw new WrongUsage(error.message, { cause: error });
    throw error;
  }
}

/** Members of an answer of the service. */
function objectOf(answer: unknown): object {
  return typeof answer === "object" && answer !== null ? answer : {};
}

function describe({ user, address }: BanSubject): string {
  if (user === undefined) return `Address ${address}`;
  return address === undefined ? `User ${user}` : `User ${user} at ${address}`;
}
