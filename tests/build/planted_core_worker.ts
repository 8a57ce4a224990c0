/**
 * The core's worker with planted code: it tries actions that the service never does, and logs each outcome,
 * before its own work.
 */
import "../../src/workers/core_worker.ts";
import { formatLine } from "../../src/logging/logger.ts";
import { post } from "../../src/workers/worker_scope.ts";

const ATTEMPTS: Readonly<Record<string, () => unknown>> = {
  "read /etc/shadow": () => Deno.readTextFile("/etc/shadow"),
  "look at /etc/shadow": () => Deno.stat("/etc/shadow"),
  "write into the own program": () => Deno.writeTextFile(new URL("planted.js", import.meta.url), ""),
  "write /tmp": () => Deno.writeTextFile("/tmp/planted", ""),
  "reach an unlisted host": () => Deno.connect({ hostname: "127.0.0.2", port: 9 }),
  "listen": () => Deno.listen({ hostname: "127.0.0.1", port: 0 }),
  "read the environment": () => Deno.env.toObject(),
  "run a program": () => new Deno.Command("/bin/true").output(),
  "load a library": () => Deno.dlopen("/lib/libc.so.6", {}),
  "learn the host's name": () => Deno.hostname(),
  "get more permissions": async () => {
    const { state } = await Deno.permissions.request({ name: "run" });
    if (state !== "granted") throw new Deno.errors.NotCapable();
  },
  "start a worker with more permissions": () =>
    new Worker("data:text/javascript,", { type: "module", deno: { permissions: { run: true } } }),
};

for (const [attempt, act] of Object.entries(ATTEMPTS)) {
  let outcome = "done";
  try {
    await act();
  } catch (error) {
    outcome = error instanceof Error ? error.name : String(error);
  }
  post({
    kind: "log",
    text: `${formatLine(Date.now(), "warn", "planted", { attempt, outcome })}\n`,
  });
}
