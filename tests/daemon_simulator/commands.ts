import { CONNECTION_COMMANDS } from "./connection_commands.ts";
import { FILE_COMMANDS } from "./file_commands.ts";
import { LISTING_COMMANDS } from "./listing_commands.ts";
import type { Session } from "./session.ts";
import { TRANSFER_COMMANDS } from "./transfer_commands.ts";

/** Handler of one command. @param parameters Text after the first space; `undefined` without a space. */
export type Command = (
  session: Session,
  parameters: string | undefined,
) => Promise<"end" | void> | "end" | void;

/**
 * Commands of a session by upper-case name. The simulator lacks `SYNC-TO-CLIENT`, `SYNC-TO-SERVER`,
 * `SEND-FILE`, `RECEIVE-FILE`, `RCP-STATUS` and `RCP-ABORT` of a real daemon and answers them as unknown.
 */
export const COMMANDS: ReadonlyMap<string, Command> = new Map(
  [CONNECTION_COMMANDS, FILE_COMMANDS, LISTING_COMMANDS, TRANSFER_COMMANDS].flatMap((table) =>
    Object.entries(table)
  ),
);
