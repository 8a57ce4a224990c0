/** Every command of the operator, in an installation's folder, beside its service, with the flags of the product. */
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { EVERYTHING, runToEnd, tryEveryCommand } from "../build/every_command.ts";
import { runService, settled } from "./running_service.ts";
import { runFromSource } from "./service_process.ts";

Deno.test("every command works with the permissions that are delivered", async () => {
  await using system = await runService(EVERYTHING);
  await settled(system);
  const command = (program: readonly string[]) =>
    new Deno.Command(Deno.execPath(), {
      args: [...program],
      cwd: system.folder,
      env: { NO_COLOR: "1" },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    });
  const program = runFromSource();
  // As text each command is a process; as JSON one process with the same flags runs them all.
  const together = command([
    ...program.slice(0, -1),
    new URL("./run_commands.ts", import.meta.url).pathname,
  ]).spawn();
  const said = new Response(together.stderr).text();
  const answers = createInterface(Readable.fromWeb(together.stdout))[Symbol.asyncIterator]();
  const writer = together.stdin.getWriter();
  await tryEveryCommand(async (args, input = "") => {
    if (!args.includes("--json")) return await runToEnd(command([...program, ...args]), input);
    await writer.write(new TextEncoder().encode(`${JSON.stringify({ args, input })}\n`));
    const { value } = await answers.next();
    if (value === undefined) throw new Error(`ended at ${args.join(" ")}: ${await said}`);
    return JSON.parse(value);
  });
  await writer.close();
  await together.status;
});
