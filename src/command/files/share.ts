import { counted, printable } from "../../model/text.ts";
import { dumpEntry } from "../../sharing/import/share_dump.ts";
import { importedReport, withShareDatabase } from "./share_database.ts";
import { isShareId, type Share, type Use } from "../../sharing/share.ts";
import type { Page } from "../../sharing/store/share_store.ts";
import {
  CommandFailed,
  defineCommand,
  defineCommands,
  type Given,
  textTable,
  WrongUsage,
} from "../command.ts";
import { readText } from "../../model/edit_file.ts";

const SERVER = {
  value: "NAME",
  help: "Logical server; required if several servers have a share with this id",
};

const ID = { id: "Id of the share, the last part of its link" };

const list = defineCommand({
  name: "share list",
  summary: "List the shares of all owners",
  details: [
    "`authserver share import` reads what --json prints. That lacks the uses and unfinished uploads: to keep them, use `authserver backup` or `authserver database import`.",
    "Shares are read in pages, by server and id, or of one owner by server and age; what changes meanwhile may be missing.",
  ],
  operands: {},
  options: {
    server: { value: "NAME", help: "Only shares of this logical server" },
    owner: { value: "DN", help: "Only shares of this owner" },
    limit: { value: "NUMBER", help: "Maximum number of shares (default: all)" },
    after: { value: "SERVER/ID", help: "Start after this share, such as the last one that was listed" },
  },
}, (given, io) => {
  const part = { after: readPlace(given.text("after")), most: readLimit(given.text("limit")) };
  return withShareDatabase(given, async ({ administration, servers }) => {
    const pages = administration.list({ server: serverOf(given, servers), owner: given.text("owner") }, part);
    const list = given.flag("json") ? jsonList() : shareTable(Date.now());
    let next: Page["next"];
    for await (const page of pages) {
      next = page.next;
      io.stdout(list.add(page.shares));
    }
    io.stdout(list.end());
    if (next !== undefined) io.stderr(`There may be more: --after ${next.server}/${next.id}\n`);
    return 0;
  });
});

const show = defineCommand({
  name: "share show",
  summary: "Show a share and its latest uses",
  operands: ID,
  options: { server: SERVER },
}, (given) =>
  withShareDatabase(given, async ({ administration, servers }) => {
    const { share, uses } = await administration.show(given.operand("id"), serverOf(given, servers));
    return { value: { ...dumpEntry(share), uses }, text: details(share, uses) };
  }));

const remove = defineCommand({
  name: "share remove",
  summary: "Delete a share; transfers over HTTPS stop within seconds, open UFTP sessions continue",
  operands: ID,
  options: { server: SERVER },
}, (given) =>
  withShareDatabase(given, async ({ administration, servers }) => {
    const share = await administration.remove(given.operand("id"), serverOf(given, servers));
    return {
      value: dumpEntry(share),
      text: `Share ${share.id} of ${printable(share.path)} deleted from ${share.server}\n`,
    };
  }));

const chown = defineCommand({
  name: "share chown",
  summary: "Transfer a share to another owner and their account",
  operands: ID,
  options: {
    server: SERVER,
    owner: { value: "DN", help: "Distinguished name of the new owner" },
    uid: { value: "NAME", help: "Unix account of the new owner on the server" },
    gid: { value: "NAME", help: "Unix group, or several with : between. If not given, the primary group" },
  },
}, (given) => {
  const [owner, uid, gid] = [given.text("owner"), given.text("uid"), given.text("gid")];
  if (owner === undefined || uid === undefined) throw new WrongUsage("Expected --owner DN and --uid NAME");
  return withShareDatabase(given, async ({ administration, servers }) => {
    const to = { owner, uid, gid };
    const share = await administration.chown(given.operand("id"), to, serverOf(given, servers));
    return {
      value: dumpEntry(share),
      text: `Share ${share.id} belongs to ${printable(share.owner)}, account ${share.uid}\n`,
    };
  });
});

const importShares = defineCommand({
  name: "share import",
  summary: "Import shares from a dump; without --partial all of them, or nothing if the dump has an error",
  details: [
    "The dump is CSV with a header line, or a JSON array of objects. Columns or members, in any order: path, ownerID, uid, targetID (required); server, id, isDirectory, gid, access, oneTime, usesLeft, expires (seconds since 1970), accessCount, sources, note, password (its hash), maxFiles, maxBytes; createdAt, targetName, mail, received.files, received.bytes and made.… as `authserver share list --json` prints them, in JSON also as objects. A targetID is a distinguished name, or group: and a Unix group.",
    "Existing shares stay unchanged: those with the same id or, for an entry without id, of the same owner, path and targetID. Shares that were deleted since an earlier import are imported again, because the service keeps no record of them: delete them from the dump, too. Expired shares are skipped. A dump of a table of the Java service, also as SQL, applies to all servers with sharing, unless --server is given.",
  ],
  operands: { file: "The dump, UTF-8" },
  options: {
    server: { ...SERVER, help: "Logical server of entries without a server" },
    partial: { help: "Import valid shares, and report the rest" },
  },
}, (given, io) =>
  withShareDatabase(given, async ({ administration, servers }) => {
    const file = given.operand("file");
    const server = serverOf(given, servers);
    const text = await readText(file);
    if (text === undefined) throw new CommandFailed(`There is no file ${file}`);
    const done = await administration.import(text, { file, servers, server, partial: given.flag("partial") });
    for (const id of done.present) io.stderr(`warning: share ${id} exists already and stays unchanged\n`);
    return importedReport(done);
  }, { create: true }));

/** Command `authserver share …`: manages shares, also of a running service. */
export const share = defineCommands({
  name: "share",
  summary: "List, show, delete, transfer and import shares",
  details: ["Run these commands as the account of the service."],
  commands: [list, show, remove, chown, importShares],
});

function serverOf(
  given: Pick<Given<"server", never>, "text">,
  servers: readonly string[],
): string | undefined {
  const server = given.text("server");
  if (server !== undefined && !servers.includes(server)) {
    throw new CommandFailed(`No sharing on ${JSON.stringify(server)}, only on ${servers.join(", ")}`);
  }
  return server;
}

function readLimit(typed: string | undefined): number | undefined {
  if (typed === undefined) return undefined;
  if (!/^[1-9]\d{0,14}$/.test(typed)) throw new WrongUsage("Expected a number from 1 with --limit");
  return Number(typed);
}

function readPlace(typed: string | undefined): Pick<Share, "server" | "id"> | undefined {
  if (typed === undefined) return undefined;
  const [, server, id = ""] = /^(.+)\/([0-9A-Za-z-]+)$/.exec(typed) ?? [];
  if (server === undefined || !isShareId(id)) throw new WrongUsage("Expected SERVER/ID with --after");
  return { server, id };
}

interface PrintedList {
  add(shares: readonly Share[]): string;
  end(): string;
}

/** Prints what `share import` reads, in the form of `printResult()`. */
function jsonList(): PrintedList {
  let between = "[\n";
  return {
    add: (shares) =>
      shares.map((share) => {
        const text = between + JSON.stringify(dumpEntry(share), undefined, 2).replace(/^/gm, "  ");
        between = ",\n";
        return text;
      }).join(""),
    end: () => between === ",\n" ? "\n]\n" : "[]\n",
  };
}

/** Prints a table; later pages keep the column widths of the first. */
function shareTable(now: number): PrintedList {
  const widths: number[] = [];
  let head = [["SERVER", "ID", "ACCESS", "LEFT", "ENDS IN", "USES", "OWNER", "TARGET", "PATH"]];
  const print = (shares: readonly Share[]) => {
    const text = textTable([...head, ...shares.map((share) => shareCells(share, now))], { widths });
    head = [];
    return text;
  };
  return { add: print, end: () => print([]) };
}

function shareCells(share: Share, now: number): string[] {
  return [
    share.server,
    share.id,
    share.access,
    share.usesLeft === 0 ? "used up" : share.oneTime ? "one-time" : String(share.usesLeft ?? ""),
    share.expires === 0 ? "" : `${Math.max(0, share.expires - Math.floor(now / 1000))} s`,
    String(share.accessCount),
    share.owner,
    share.target,
    share.path,
  ];
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
    ["Note", share.note ?? ""],
    ["Password", share.password === undefined ? "none" : "required"],
    ["Uploaded", uploadedText(share)],
    ["Created", time(share.created)],
    ["Ends", expires === 0 ? "never" : time(expires * 1000)],
    ["Uses", `${share.accessCount}${usesLeft === undefined ? "" : `, ${usesLeft} left`}`],
  ];
  const lines = uses.map(({ at, kind, who, address, path, bytes, complete }) => {
    const outcome = bytes === undefined ? "" : ` ${bytes} bytes${complete ? "" : ", interrupted"}`;
    return `${printable(`${time(at)} ${kind} ${who} from ${address} ${path}${outcome}`)}\n`;
  });
  return [textTable(facts), ...(lines.length > 0 ? ["\n", ...lines] : [])].join("");
}

/** A share with write access counts only some uploads: those that its pages can resume. */
function uploadedText({ access, received = { files: 0, bytes: 0 }, quota }: Share): string {
  if (access !== "DROP") return access === "WRITE" || access === "MODIFY" ? "see the uses" : "not possible";
  const [files, bytes] = [counted(received.files, "file", "files"), counted(received.bytes, "byte", "bytes")];
  const most = (bound: number | undefined) => bound === undefined ? "" : ` of at most ${bound}`;
  return `${files}${most(quota?.files)}, ${bytes}${most(quota?.bytes)}`;
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+/, "");
}
