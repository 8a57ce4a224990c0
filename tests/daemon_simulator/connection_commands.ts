import type { Command } from "./commands.ts";
import { required } from "./parameters.ts";
import { splitOnce, toInteger } from "./python_text.ts";
import type { Session } from "./session.ts";
import { isTrue } from "./session_options.ts";

const FEATURES = [
  "PASV",
  "EPSV",
  "RANG STREAM",
  "REST STREAMMFMT",
  "MLSD",
  "MLST",
  "APPE",
  "MFF Modify;UNIX.mode;KEEP-ALIVE",
  "ARCHIVE",
  "UTF-8",
];
/** Port of the TCP port service multiplexer, on which nothing listens. */
const REFUSED_PORT = 1;

/** Commands about the session itself (daemon-protocol.md 5.3 and 5.7). */
export const CONNECTION_COMMANDS: Readonly<Record<string, Command>> = {
  SYST: (session) => session.reply("215 Unix Type: L8"),
  FEAT(session) {
    const { encrypted, hashList } = session.options;
    const crypted = encrypted ? [`CRYPTED-${session.job.values.get("algo") ?? "AES"}`] : [];
    const lines = [...FEATURES, ...crypted, `HASH ${hashList}`].map((line) => ` ${line}`);
    session.reply(["211-Features:", ...lines, "211 END"].join("\n"));
  },
  NOOP(session, parameters) {
    const wanted = parameters === undefined ? undefined : orUndefined(() => toInteger(parameters));
    if (wanted === undefined) return session.reply("200 OK");
    session.options.streams = wanted;
    const { streams } = session.options;
    session.reply(`${streams === wanted ? 222 : 223} Opening ${streams} data connections`);
  },
  TYPE(session, parameters) {
    required(parameters, "strip");
    session.reply("200 OK");
  },
  "KEEP-ALIVE"(session, parameters) {
    session.options.keepAlive = isTrue(required(parameters, "lower"));
    session.reply("200 OK");
  },
  OPTS(session, parameters) {
    const [name, rest] = splitOnce(required(parameters, "split"), " ");
    const option = name.toUpperCase();
    if (rest === undefined) {
      return session.reply(
        ["211-OPTS", ...session.options.list().map((line) => ` ${line}`), "211 END"].join("\n"),
      );
    }
    const [value] = splitOnce(rest, " ");
    session.options.set(option, value);
    session.reply(`200 ${option}=${value}`);
  },
  EPSV(session, parameters) {
    if (parameters === "ALL") return session.reply("200 OK");
    return openData(session, (port) => `229 Entering Extended Passive Mode (|||${port}|)`);
  },
  PASV(session) {
    const host = (session.host.advertiseHost ?? session.control.socket.localAddress ?? "").replaceAll(
      ".",
      ",",
    );
    const announce = (port: number) =>
      `227 Entering Passive Mode (${host},${Math.floor(port / 256)},${port % 256})`;
    return openData(session, announce);
  },
  QUIT: () => "end",
  BYE: () => "end",
};

/** Waits for a data connection. Without it, the session ends without a reply. */
async function openData(session: Session, announce: (port: number) => string): Promise<"end" | void> {
  if (session.fault?.kind === "refused-data-port") return session.reply(announce(REFUSED_PORT));
  if (!await session.acceptData(announce)) return "end";
}

function orUndefined<T>(compute: () => T): T | undefined {
  try {
    return compute();
  } catch {
    return undefined;
  }
}
