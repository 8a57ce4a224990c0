import { printableLines } from "../model/text.ts";
import { asksForHelp, type Command, type CommandIo, commandNamed, textTable, WrongUsage } from "./command.ts";

/** Commands in the order of `--help`, each imported when it runs: a running service loads only the code of `serve`. */
const COMMANDS: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ["serve", async () => (await import("./serving/serve.ts")).serve],
  ["init", async () => (await import("./files/init.ts")).init],
  ["migrate", async () => (await import("./files/migrate.ts")).migrate],
  ["status", async () => (await import("./running/status.ts")).status],
  ["reload", async () => (await import("./running/reload.ts")).reload],
  ["check", async () => (await import("./diagnosis/check.ts")).check],
  ["config", async () => (await import("./diagnosis/config.ts")).config],
  ["whoami-test", async () => (await import("./diagnosis/whoami_test_command.ts")).whoamiTestCommand],
  ["ban", async () => (await import("./running/ban.ts")).ban],
  ["token", async () => (await import("./running/token.ts")).token],
  ["user", async () => (await import("./running/user.ts")).user],
  ["passwd", async () => (await import("./files/passwd.ts")).passwd],
  ["share", async () => (await import("./files/share.ts")).share],
  ["database", async () => (await import("./files/database.ts")).database],
  ["backup", async () => (await import("./files/backup.ts")).backup],
  ["restore", async () => (await import("./files/backup.ts")).restore],
  ["completion", async () => (await import("./completion.ts")).completion],
  ["version", async () => (await import("./version.ts")).version],
]);

/** Imports all commands, in the order of `--help`. */
export async function allCommands(): Promise<readonly Command[]> {
  return await Promise.all([...COMMANDS.values()].map((load) => load()));
}

/** @throws {WrongUsage} With a suggestion. */
async function loadCommand(name: string): Promise<Command> {
  return await COMMANDS.get(name)?.() ?? commandNamed(name, await allCommands());
}

/** Runs the command of the arguments. @returns Exit status: 0 success, 1 failure, 2 wrong usage. */
export async function runCommand(args: readonly string[], world: CommandIo): Promise<number> {
  const io = printing(world);
  const [word = "serve", ...rest] = args;
  try {
    if (args.join().includes("\ufffd")) throw new WrongUsage("Expected arguments in UTF-8");
    if (asksForHelp(word)) {
      const [topic, ...more] = rest;
      if (topic !== undefined) return await (await loadCommand(topic)).run([...more, "--help"], io);
      io.stdout(await overview());
      return 0;
    }
    if (word === "--version") return await (await loadCommand("version")).run(rest, io);
    // Options without a command are those of `serve`.
    if (word.startsWith("-")) return await (await loadCommand("serve")).run(args, io);
    return await (await loadCommand(word)).run(rest, io);
  } catch (error) {
    if (!(error instanceof WrongUsage)) throw error;
    io.stderr(`authserver: ${error.message}\nSee authserver --help\n`);
    return 2;
  }
}

/** Removes control sequences, so that texts from users or other systems cannot control the terminal. */
function printing(io: CommandIo): CommandIo {
  return {
    ...io,
    stdout: (text) => io.stdout(printableLines(text)),
    stderr: (text) => io.stderr(printableLines(text)),
  };
}

async function overview(): Promise<string> {
  const commands = await allCommands();
  return `Usage: authserver [command] [options]

The Auth service for UFTP: authenticates users and gives them access to transfer daemons.

Commands:
${textTable(commands.map(({ spec: { name, summary } }) => [name, summary]), { indent: 2 })}
See authserver <command> --help
`;
}
