import { printable } from "../../model/printable.ts";
import { dumpEntry } from "../../sharing/import/share_dump.ts";
import type { Share, Use } from "../../sharing/share.ts";
import { type Command, CommandFailed, defineCommand, defineCommands, WrongUsage } from "../command.ts";
import { CONFIG_OPTION } from "../config_option.ts";
import { readText } from "../../model/edit_file.ts";
import { withShareDatabase } from "./share_database.ts";
import { textTable } from "../text_table.ts";

const SERVER = { value: "NAME", help: "Logical server; needed where an id is on several" };
const JSON_OUTPUT = { help: "Print JSON" };
const ID = { id: "Id of the share, the last part of its link" };

const list = defineCommand({
  name: "share list",
  summary: "List the shares of all owners",
  details: ["What --json prints can be given to `authserver share import`, as a backup or for another host."],
  operands: {},
  options: {
    config: CONFIG_OPTION,
    server: { value: "NAME", help: "Only shares of this logical server" },
    owner: { value: "DN", help: "Only shares of this owner" },
    json: JSON_OUTPUT,
  },
}, (given, io) =>
  withShareDatabase(given, async ({ administration, servers }) => {
    const [server, owner] = [serverOf(given, servers), given.text("owner")];
    const shares = await administration.list({
      ...(server !== undefined && { server }),
      ...(owner !== undefined && { owner }),
    });
    io.stdout(given.flag("json") ? asJson(shares.map(dumpEntry)) : shareTable(shares, Date.now()));
    return 0;
  }));

const show = defineCommand({
  name: "share show",
  summary: "Show a share and its latest uses",
  operands: ID,
  options: { config: CONFIG_OPTION, server: SERVER, json: JSON_OUTPUT },
}, (given, io) =>
  withShareDatabase(given, async ({ administration, servers }) => {
    const { share, uses } = await administration.show(given.operand("id"), serverOf(given, servers));
    io.stdout(given.flag("json") ? asJson({ ...dumpEntry(share), uses }) : details(share, uses));
    return 0;
  }));

const remove = defineCommand({
  name: "share remove",
  summary: "End a share; transfers under way go on",
  operands: ID,
  options: { config: CONFIG_OPTION, server: SERVER },
}, (given, io) =>
  withShareDatabase(given, async ({ administration, servers }) => {
    const share = await administration.remove(given.operand("id"), serverOf(given, servers));
    io.stdout(`Share ${share.id} of ${printable(share.path)} removed from ${share.server}\n`);
    return 0;
  }));

const chown = defineCommand({
  name: "share chown",
  summary: "Give a share to another owner, under their account",
  operands: ID,
  options: {
    config: CONFIG_OPTION,
    server: SERVER,
    owner: { value: "DN", help: "Distinguished name of the new owner" },
    uid: { value: "NAME", help: "Unix account of the new owner on the server" },
    gid: { value: "NAME", help: "Unix group; without it the account's own" },
  },
}, (given, io) => {
  const [owner, uid, gid] = [given.text("owner"), given.text("uid"), given.text("gid")];
  if (owner === undefined || uid === undefined) throw new WrongUsage("Expected --owner DN and --uid NAME");
  return withShareDatabase(given, async ({ administration, servers }) => {
    const to = { owner, uid, ...(gid !== undefined && { gid }) };
    const share = await administration.chown(given.operand("id"), to, serverOf(given, servers));
    io.stdout(`Share ${share.id} belongs to ${printable(share.owner)}, account ${share.uid}\n`);
    return 0;
  });
});

const importShares = defineCommand({
  name: "share import",
  summary: "Take shares from a dump: all of it, or nothing if anything in it is wrong",
  details: [
    "The dump is CSV with a header line, or a JSON array of objects. Columns or members, in any order: path, ownerID,",
    "uid, targetID (required); server, id, isDirectory, gid, access, oneTime, usesLeft, expires (seconds since 1970),",
    "accessCount, sources. Shares whose id is there already stay as they are; those that have ended are left out.",
  ],
  operands: { file: "The dump, UTF-8" },
  options: { config: CONFIG_OPTION, server: { ...SERVER, help: "Logical server of entries that name none" } },
}, (given, io) =>
  withShareDatabase(given, async ({ administration, servers }) => {
    const file = given.operand("file");
    const server = serverOf(given, servers);
    const text = await readText(file);
    if (text === undefined) throw new CommandFailed(`there is no file ${file}`);
    const { added, present } = await administration.import(text, {
      file,
      servers,
      ...(server !== undefined && { server }),
    });
    for (const id of present) io.stderr(`warning: share ${id} is there already and stays as it is\n`);
    io.stdout(`${added} ${added === 1 ? "share" : "shares"} imported\n`);
    return 0;
  }, { create: true }));

/** `authserver share …`: what the operator can do about shares; a service may be running meanwhile. */
export const share: Command = defineCommands({
  name: "share",
  summary: "List, show, remove, give away and import shares",
  details: ["Run these as the account that the service runs as."],
  examples: {
    "sudo -u authserver authserver share list": "All shares, of a service that systemd starts",
    "authserver share import shares.csv --server HPC": "Takes shares over from the Java service",
  },
  commands: [list, show, remove, chown, importShares],
});

interface Options {
  text(name: "config" | "server"): string | undefined;
}

function serverOf(given: Options, servers: readonly string[]): string | undefined {
  const server = given.text("server");
  if (server !== undefined && !servers.includes(server)) {
    throw new CommandFailed(`no sharing on ${JSON.stringify(server)}, only on ${servers.join(", ")}`);
  }
  return server;
}

function asJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** One line per share. */
function shareTable(shares: readonly Share[], now: number): string {
  const rows = shares.map((share) => [
    share.server,
    share.id,
    share.access,
    share.usesLeft === 0 ? "used up" : share.oneTime ? "one-time" : String(share.usesLeft ?? ""),
    share.expires === 0 ? "" : `${Math.max(0, share.expires - Math.floor(now / 1000))} s`,
    String(share.accessCount),
    share.owner,
    share.target,
    share.path,
  ]);
  return textTable([
    ["SERVER", "ID", "ACCESS", "LEFT", "ENDS IN", "USES", "OWNER", "TARGET", "PATH"],
    ...rows,
  ]);
}

function details(share: Share, uses: readonly Use[]): string {
  const { usesLeft, sources, expires } = share;
  const facts: [string, string][] = [
    ["Server", share.server],
    ["Id", share.id],
    ["Path", share.path],
    ["Access", share.access],
    ["Owner", share.owner],
    ["Account", share.gid === undefined ? share.uid : `${share.uid}:${share.gid}`],
    ["For", share.target],
    ["From", sources.length === 0 ? "anywhere" : sources.join(", ")],
    ["Created", time(share.created)],
    ["Ends", expires === 0 ? "never" : time(expires * 1000)],
    ["Uses", `${share.accessCount}${usesLeft === undefined ? "" : `, ${usesLeft} left`}`],
  ];
  const lines = uses.map(({ at, kind, who, address, path, bytes, complete }) => {
    const outcome = bytes === undefined ? "" : ` ${bytes} bytes${complete ? "" : ", broken off"}`;
    return `${printable(`${time(at)} ${kind} ${who} from ${address} ${path}${outcome}`)}\n`;
  });
  return [textTable(facts), ...(lines.length > 0 ? ["\n", ...lines] : [])].join("");
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+/, "");
}
