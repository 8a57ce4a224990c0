import type { CommandIo } from "../../src/command/command.ts";

/** The world of a command in a test: remembers what was written, and gives answers prepared before. */
export function recordedIo(
  { input = "", answers }: { input?: string; answers?: readonly string[] } = {},
): CommandIo & { readonly out: string; readonly err: string } {
  const left = answers === undefined ? undefined : [...answers];
  let out = "";
  let err = "";
  return {
    stdout: (text) => void (out += text),
    stderr: (text) => void (err += text),
    readInput: () => Promise.resolve(input),
    askSecret(question) {
      err += question;
      return Promise.resolve(left?.shift());
    },
    get out() {
      return out;
    },
    get err() {
      return err;
    },
  };
}
