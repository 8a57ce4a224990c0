import type { CommandIo } from "../../src/command/command.ts";

/** Returns input and output of a command in a test: records output, and gives prepared answers. */
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
