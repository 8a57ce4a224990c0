import { BadControlRequest, LONGEST_BAN, subjectOf } from "../../rooms/control/control_request.ts";
import type { BanSubject } from "../../regulation/ban.ts";
import {
  type Command,
  CommandFailed,
  defineCommand,
  defineCommands,
  type Given,
  WrongUsage,
} from "../command.ts";
import { parseDuration } from "./duration.ts";
import { operator } from "./operator.ts";
import { listAt, numberAt, textAt } from "./reply_value.ts";
import { requireRunning, SERVICE_OPTIONS } from "./ask_running.ts";
import { textTable } from "../text_table.ts";

const SUBJECT_OPTIONS = {
  user: { value: "NAME", help: "User name as it is typed at sign-in, account, or distinguished name" },
  address: { value: "ADDRESS", help: "IP address; of IPv6 its /64" },
} as const;

const list = defineCommand({
  name: "ban list",
  summary: "List who has to wait, because of failed logins or by hand",
  operands: {},
  options: { ...SERVICE_OPTIONS, json: { help: "Print JSON" } },
}, async (given, io) => {
  const answer = await requireRunning(given, { command: "ban list" });
  if (given.flag("json")) {
    io.stdout(`${JSON.stringify(answer, undefined, 2)}\n`);
    return 0;
  }
  const bans = listAt(answer, "bans");
  const rows = bans.map((ban) => [
    textAt(ban, "user") ?? "-",
    textAt(ban, "address") ?? "-",
    textAt(ban, "reason") ?? "",
    String(numberAt(ban, "failures") ?? 0),
    textAt(ban, "until") ?? "",
  ]);
  io.stdout(
    rows.length === 0
      ? "Nobody is banned\n"
      : textTable([["user", "address", "reason", "failures", "until"], ...rows]),
  );
  const total = numberAt(answer, "total") ?? bans.length;
  if (total > bans.length) io.stdout(`and ${total - bans.length} more\n`);
  return 0;
});

const add = defineCommand({
  name: "ban add",
  summary: "Keep a user, an address, or a user at an address out for some time",
  details: [
    "An address is kept out with whatever it shows, from everything but /health/.",
    "A user is kept out with all credentials that name them: by user name, account or distinguished name.",
    "The ban outlives reloads of the configuration, but not a restart of the service.",
  ],
  operands: {},
  options: {
    ...SERVICE_OPTIONS,
    ...SUBJECT_OPTIONS,
    for: { value: "TIME", help: "How long: a number and s, m, h or d", default: "1h" },
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
  io.stdout(`${describe(subject)} banned until ${textAt(answer, "until")}\n`);
  const reversed = textAt(answer, "reversed");
  if (reversed !== undefined) {
    io.stderr(
      "Warning: nobody is known by this name, but somebody by the same parts in the other order, " +
        `which is another name and not banned: ${reversed}\n`,
    );
  }
  return 0;
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
}, async (given, io) => {
  const subject = subjectIn(given);
  const answer = await requireRunning(given, { command: "ban remove", subject, operator: await operator() });
  const lifted = numberAt(answer, "lifted") ?? 0;
  if (lifted === 0) throw new CommandFailed(`${describe(subject)}: no ban and no failed login is known`);
  io.stdout(`${describe(subject)}: ${lifted} ${lifted === 1 ? "ban or count" : "bans and counts"} removed\n`);
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
    if (error instanceof BadControlRequest) throw new WrongUsage(error.message, { cause: error });
    throw error;
  }
}

function describe({ user, address }: BanSubject): string {
  if (user === undefined) return `Address ${address}`;
  return address === undefined ? `User ${user}` : `User ${user} at ${address}`;
}
