import { printableLines } from "../model/printable.ts";
import { backup } from "./files/backup.ts";
import { restore } from "./files/restore.ts";
import { ban } from "./running/ban.ts";
import { token } from "./running/token.ts";
import { check } from "./diagnosis/check.ts";
import { asksForHelp, type Command, type CommandIo, commandNamed } from "./command.ts";
import { WrongUsage } from "./arguments.ts";
import { completion } from "./completion/completion.ts";
import { config } from "./diagnosis/config.ts";
import { database } from "./files/database.ts";
import { init } from "./files/init.ts";
import { migrate } from "./files/migrate.ts";
import { passwd } from "./files/passwd.ts";
import { reload } from "./running/reload.ts";
import { reservations } from "./files/reservations.ts";
import { serve } from "./serving/serve.ts";
import { textTable } from "./text_table.ts";
import { share } from "./files/share.ts";
import { status } from "./running/status.ts";
import { user } from "./running/user.ts";
import { version } from "./version.ts";
import { whoamiTestCommand } from "./diagnosis/whoami_test_command.ts";

/** All commands, in the order of `--help`. */
export const COMMANDS: readonly Command[] = [
  serve,
  init,
  migrate,
  status,
  reload,
  check,
  config,
  whoamiTestCommand,
  ban,
  token,
  user,
  passwd,
  share,
  database,
  backup,
  restore,
  reservations,
  completion(() => COMMANDS),
  version,
];

/** Runs the command of the arguments. @returns Exit status: 0 success, 1 failure, 2 wrong usage. */
export async function runCommand(args: readonly string[], world: CommandIo): Promise<number> {
  const io = printing(world);
  const [word = serve.name, ...rest] = args;
  try {
    if (asksForHelp(word)) {
      const [topic, ...more] = rest;
      if (topic !== undefined) return await commandNamed(topic, COMMANDS).run([...more, "--help"], io);
      io.stdout(overview());
      return 0;
    }
    if (word === "--version") return await version.run(rest, io);
    // Options without a command are those of `serve`.
    if (word.startsWith("-")) return await serve.run(args, io);
    return await commandNamed(word, COMMANDS).run(rest, io);
  } catch (error) {
    if (!(error instanceof WrongUsage)) throw error;
    io.stderr(`authserver: ${error.message}\nSee authserver --help\n`);
    return 2;
  }
}

/** Removes control sequences, so that texts from users or other systems cannot steer the terminal. */
function printing(io: CommandIo): CommandIo {
  return {
    ...io,
    stdout: (text) => io.stdout(printableLines(text)),
    stderr: (text) => io.stderr(printableLines(text)),
  };
}

function overview(): string {
  return `Usage: authserver [command] [options]

The Auth service for UFTP: authenticates users and gives them access to transfer daemons.

Commands:
${textTable(COMMANDS.map(({ name, summary }) => [name, summary]), { indent: 2 })}
See authserver <command> --help
`;
}
