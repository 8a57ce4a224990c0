import { counted } from "../../model/counted.ts";
import { type Command, CommandFailed, defineCommand, defineCommands, tell } from "../command.ts";
import { type Given, WrongUsage } from "../arguments.ts";
import { textTable } from "../text_table.ts";
import { requireRunning, SERVICE_OPTIONS } from "./ask_running.ts";
import { operator } from "./operator.ts";
import { listAt, member, numberAt, textAt } from "./reply_value.ts";

const USER_OPTION = {
  user: { value: "NAME", help: "User name as it is typed at sign-in, account, or distinguished name" },
} as const;

const list = defineCommand({
  name: "token list",
  summary: "List the tokens of a user that count",
  operands: {},
  options: { ...SERVICE_OPTIONS, ...USER_OPTION },
  json: {
    "tokens[].id": "Id, by which it can be taken back",
    "tokens[].name?": "Name that the user gave it",
    "tokens[].made": "Time when it was made, as 2026-01-05T09:15:00.000Z",
    "tokens[].ends": "Time of its end",
    "tokens[].madeFrom?": "Address of who asked for it",
    "tokens[].madeBy?": "Administrator who asked for it",
    "tokens[].lastUsed?": "Day of its last use, in UTC",
    "tokens[].lastUsedFrom?": "Address from which it came first on that day",
    "tokens[].renewable": "Whether another one can be got with it",
    "tokens[].limited": "Whether it is for this service only",
    "tokens[].path[]?": "Directories that it is narrowed to",
    "tokens[].activity?": "What may be done there: read, write or all",
    "tokens[].server[]?": "Logical servers that it is narrowed to",
    "tokens[].address?": "Addresses from which it can be used",
  },
}, async (given, io) => {
  const answer = await requireRunning(given, { command: "token list", user: userIn(given) });
  tell(given, io, { value: answer, text: tokenTable(answer) });
  return 0;
});

const revoke = defineCommand({
  name: "token revoke",
  summary: "Take back a token of a user, or all of them, at once and for all instances of the service",
  details: [
    "What was got with the token ends with it; sessions and transfers under way go on.",
    "All of a user's tokens are also those that are not listed. Keys and passwords go on counting.",
    "Exit status 1: there was no such user or token.",
  ],
  operands: {},
  options: {
    ...SERVICE_OPTIONS,
    ...USER_OPTION,
    id: { value: "ID", help: "Id of the token; without it, all of the user's are taken back" },
  },
  json: { "ended": "How many tokens were in the list", "names[]": "Distinguished names of the user" },
}, async (given, io) => {
  const [user, id] = [userIn(given), given.text("id")];
  const request = { command: "token revoke", user, id, operator: await operator() } as const;
  const answer = await requireRunning(given, request);
  const ended = numberAt(answer, "ended") ?? 0;
  if (listAt(answer, "names").length === 0) throw new CommandFailed(`${user}: no user is known by this name`);
  if (id !== undefined && ended === 0) throw new CommandFailed(`${user} has no token ${id}`);
  tell(given, io, {
    value: answer,
    text: `User ${user}: ${counted(ended, "token", "tokens")} taken back\n`,
  });
  return 0;
});

/** `authserver token` */
export const token: Command = defineCommands({
  name: "token",
  summary: "List the tokens of a user, and take them back",
  examples: {
    "authserver token list --user ann": "Which tokens there are, and from where they were used last",
    "authserver token revoke --user ann": "Ends all of them, such as after a laptop was stolen",
  },
  commands: [list, revoke],
});

function userIn(given: Given<"user", never>): string {
  const user = given.text("user");
  if (user === undefined) throw new WrongUsage("Expected --user NAME");
  return user;
}

function tokenTable(answer: unknown): string {
  const rows = listAt(answer, "tokens").map((token) => [
    textAt(token, "id") ?? "",
    textAt(token, "name") ?? "-",
    textAt(token, "made") ?? "",
    textAt(token, "ends") ?? "",
    [textAt(token, "lastUsed") ?? "-", textAt(token, "lastUsedFrom") ?? ""].join(" ").trimEnd(),
    restrictionsOf(token) || "-",
  ]);
  if (rows.length === 0) return "There is no token\n";
  return textTable([["id", "name", "made", "ends", "last used", "narrowed to"], ...rows]);
}

function restrictionsOf(token: unknown): string {
  return ["path", "activity", "server", "address"].flatMap((name) => {
    const value = member(token, name);
    return value === undefined ? [] : `${name}=${Array.isArray(value) ? value.join(" ") : value}`;
  }).join(" ");
}
