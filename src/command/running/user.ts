import { isAccountName } from "../../model/account_name.ts";
import { defineCommand, defineCommands, textTable, WrongUsage } from "../command.ts";
import { listAt, member, textAt } from "./answer.ts";
import { askRunning, SERVICE_OPTIONS } from "./ask_running.ts";

const show = defineCommand({
  name: "user show",
  summary: "Show the home directory and SSH keys of a Unix account, as the transfer daemons report them",
  details: ["Exit status 1: no daemon knows the account, or no daemon answered."],
  operands: { uid: "Name of the Unix account" },
  options: SERVICE_OPTIONS,
}, async (given) => {
  const uid = given.operand("uid");
  if (!isAccountName(uid)) throw new WrongUsage("Expected the name of a Unix account");
  const answer = await askRunning(given, { command: "user show", uid });
  const accounts = Array.isArray(answer) ? answer : [];
  return {
    value: answer,
    text: accounts.map(formatAccount).join(""),
    status: accounts.some((account) => member(account, "state") === "known") ? 0 : 1,
  };
});

/** `authserver user` */
export const user = defineCommands({
  name: "user",
  summary: "Show information about a user",
  commands: [show],
});

function formatAccount(account: unknown): string {
  const server = textAt(account, "server") ?? "";
  const state = textAt(account, "state");
  if (state !== "known") {
    const reason = textAt(account, "reason") ?? "";
    return textTable([[
      `${server}:`,
      state === "unknown" ? "no such account" : `could not be asked: ${reason}`,
    ]]);
  }
  const keys = listAt(account, "keys").map((key) => [
    textAt(key, "type") ?? "unusable key",
    textAt(key, "fingerprint") ?? textAt(key, "reason") ?? "",
  ]);
  return textTable([[`${server}:`, textAt(account, "home") ?? "no home directory"]]) +
    (keys.length === 0 ? "  no SSH keys\n" : textTable(keys, { indent: 2 }));
}
