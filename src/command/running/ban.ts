import { attempt } from "../../model/attempt.ts";
import { parseDuration } from "../../model/clock.ts";
import { counted, printable } from "../../model/text.ts";
import { InvalidAdminRequest, MAX_BAN_SECONDS, subjectOf } from "../../resource/admin/admin_request.ts";
import type { BanSubject } from "../../throttling/ban.ts";
import { CommandFailed, defineCommand, defineCommands, type Given, WrongUsage } from "../command.ts";
import { listAt, member, memberTable, numberAt, reversedWarning, textAt } from "./answer.ts";
import { askRunning, operator, SERVICE_OPTIONS, USER_OPTION } from "./ask_running.ts";

const SUBJECT_OPTIONS = {
  ...USER_OPTION,
  address: { value: "ADDRESS", help: "IP address; for IPv6, the ban covers its /64" },
} as const;

const list = defineCommand({
  name: "ban list",
  summary: "List banned and throttled users and addresses",
  operands: {},
  options: SERVICE_OPTIONS,
}, async (given) => {
  const answer = await askRunning(given, { command: "ban list" });
  return { value: answer, text: banTable(answer) };
});

function banTable(answer: unknown): string {
  const bans = listAt(answer, "bans");
  if (bans.length === 0) return "Nobody is banned\n";
  const more = (numberAt(answer, "total") ?? bans.length) - bans.length;
  const table = memberTable(bans, { user: "-", address: "-", reason: "", failures: "0", until: "" });
  return more > 0 ? `${table}and ${more} more\n` : table;
}

const add = defineCommand({
  name: "ban add",
  summary: "Ban a user, an address, or a user at an address for some time",
  details: [
    "A banned address gets no access with any credentials, except to /health/.",
    "A banned user gets no access with any credentials that name them: user name, account or distinguished name.",
    "A ban survives a restart if persistence.directory or a shared database is set; it then applies to all instances that share the database. Otherwise it ends with the service.",
    "Exit status 3: the ban applies here, but the database does not have it yet, so the listed instances do not know it, and a restart of a single instance would end it. The service tries again until it can write.",
  ],
  operands: {},
  options: {
    ...SERVICE_OPTIONS,
    ...SUBJECT_OPTIONS,
    for: { value: "TIME", help: "Duration: a number and s, m, h or d, at most 3650d", default: "1h" },
  },
}, async (given, io) => {
  const subject = subjectIn(given);
  const seconds = parseDuration(given.text("for") ?? "");
  if (seconds === undefined || seconds > MAX_BAN_SECONDS) {
    throw new WrongUsage("Expected a time such as 90s, 30m or 12h, at most 3650d, behind --for");
  }
  const answer = await askRunning(given, {
    command: "ban add",
    subject,
    seconds,
    operator: await operator(),
  });
  const unaware = listAt(answer, "unaware").map(String);
  const isStored = member(answer, "stored") !== false;
  const warnings = [
    ...reversedWarning(answer, "is not banned"),
    ...(unaware.length > 0
      ? [`these instances do not know of the ban yet: ${printable(unaware.join(", "))}`]
      : isStored
      ? []
      : ["the ban is not stored yet, and a restart would end it; see authserver status"]),
  ];
  for (const warning of warnings) io.stderr(`Warning: ${warning}\n`);
  return {
    value: { ...subject, ...Object(answer) },
    text: `${describe(subject)} banned until ${textAt(answer, "until")}\n`,
    status: unaware.length > 0 || !isStored ? 3 : 0,
  };
});

const remove = defineCommand({
  name: "ban remove",
  summary: "Remove the ban of a user or address, and clear their failed logins",
  details: [
    "Exit status 1: nothing to remove.",
    "--user alone clears throttling of the user at all addresses; --address alone clears all users at the address.",
  ],
  operands: {},
  options: { ...SERVICE_OPTIONS, ...SUBJECT_OPTIONS },
}, async (given) => {
  const subject = subjectIn(given);
  const answer = await askRunning(given, { command: "ban remove", subject, operator: await operator() });
  const lifted = numberAt(answer, "lifted") ?? 0;
  if (lifted === 0) throw new CommandFailed(`${describe(subject)}: no ban and no failed login is known`);
  const what = counted(lifted, "ban or count", "bans and counts");
  return { value: { lifted }, text: `${describe(subject)}: ${what} removed\n` };
});

/** `authserver ban` */
export const ban = defineCommands({
  name: "ban",
  summary: "List, add and remove bans of users and addresses",
  commands: [list, add, remove],
});

function subjectIn(given: Given<"user" | "address", never>): BanSubject {
  const subject = () => subjectOf({ user: given.text("user"), address: given.text("address") });
  return attempt(subject, InvalidAdminRequest, (cause) => {
    throw new WrongUsage(cause.message, { cause });
  });
}

function describe({ user, address }: BanSubject): string {
  if (user === undefined) return `Address ${address}`;
  return address === undefined ? `User ${user}` : `User ${user} at ${address}`;
}
