import { counted } from "../../model/text.ts";
import { CommandFailed, defineCommand, defineCommands, type Given, WrongUsage } from "../command.ts";
import { listAt, member, memberTable, numberAt, reversedWarning, textAt } from "./answer.ts";
import { askRunning, operator, SERVICE_OPTIONS, USER_OPTION } from "./ask_running.ts";

const list = defineCommand({
  name: "token list",
  summary: "List the active tokens of a user",
  operands: {},
  options: { ...SERVICE_OPTIONS, ...USER_OPTION },
}, async (given) => {
  const answer = await askRunning(given, { command: "token list", user: userIn(given) });
  return { value: answer, text: tokenTable(answer) };
});

const revoke = defineCommand({
  name: "token revoke",
  summary: "Revoke a token of a user, or all tokens, immediately and on all instances",
  details: [
    "Tokens obtained with the token are revoked as well. Open sessions and running transfers continue.",
    "Without an id, tokens that are not listed are revoked too. Keys and passwords stay valid.",
    "Exit status 1: the token does not exist, or the user is unknown and has no listed token.",
  ],
  operands: {},
  options: {
    ...SERVICE_OPTIONS,
    ...USER_OPTION,
    id: { value: "ID", help: "Id of the token. If not given, all tokens of the user are revoked" },
  },
}, async (given, io) => {
  const [user, id] = [userIn(given), given.text("id")];
  const request = { command: "token revoke", user, id, operator: await operator() } as const;
  const answer = await askRunning(given, request);
  const ended = numberAt(answer, "ended") ?? 0;
  for (const warning of reversedWarning(answer, "keeps its tokens")) io.stderr(`Warning: ${warning}\n`);
  const isKnown = listAt(answer, "names").length > 0 && (ended > 0 || member(answer, "unknown") !== true);
  if (!isKnown) throw new CommandFailed(`${user}: no user is known by this name`);
  if (id !== undefined && ended === 0) throw new CommandFailed(`${user} has no token ${id}`);
  return { value: answer, text: `User ${user}: ${counted(ended, "token", "tokens")} revoked\n` };
});

/** `authserver token` */
export const token = defineCommands({
  name: "token",
  summary: "List and revoke the tokens of a user",
  commands: [list, revoke],
});

function userIn(given: Given<"user", never>): string {
  const user = given.text("user");
  if (user === undefined) throw new WrongUsage("Expected --user NAME");
  return user;
}

function tokenTable(answer: unknown): string {
  const tokens = listAt(answer, "tokens");
  if (tokens.length === 0) return "There is no token\n";
  return memberTable(tokens, {
    ...{ id: "", name: "-", made: "", ends: "" },
    "last used": (token) =>
      [textAt(token, "lastUsed") ?? "-", textAt(token, "lastUsedFrom")].join(" ").trimEnd(),
    "restricted to": (token) => restrictionsOf(token) || "-",
  });
}

function restrictionsOf(token: unknown): string {
  return ["path", "activity", "server", "address"].flatMap((name) => {
    const value = member(token, name);
    return value === undefined ? [] : `${name}=${Array.isArray(value) ? value.join(" ") : value}`;
  }).join(" ");
}
