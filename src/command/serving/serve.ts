import { fstatSync } from "node:fs";
import { attempt } from "../../model/attempt.ts";
import { VERSION } from "../../service/version.ts";
import { CONSOLE, toConsole } from "../../logging/log_file.ts";
import { asJsonLines } from "../../logging/line_forms.ts";
import { defineCommand } from "../command.ts";
import { configFile } from "../config_option.ts";
import { type RunningService, startService } from "./running_service.ts";
import { connectServiceManager } from "./service_manager.ts";
import { copySystemInfo, dropSystemAccess } from "../system_info.ts";

/** Command `authserver serve`: runs the service until a signal stops it. */
export const serve = defineCommand({
  name: "serve",
  summary: "Run the service (the default command)",
  details: [
    "SIGTERM and SIGINT stop the service: it drains for container.drainSeconds, finishes running requests for at most 20 seconds, and exits at most 50 seconds after draining.",
    "SIGHUP and changes of configuration files reload the configuration.",
    "Exit status 78: the configuration cannot be used; systemd does not restart the service then.",
  ],
  operands: {},
  options: {
    name: {
      value: "NAME",
      default: "AUTHSERVER",
      help: "Name of this service in the process list and in messages",
    },
    json: { help: "Print log lines and messages as one JSON object per line" },
  },
}, async (given, io) => {
  const file = await configFile(given);
  const asJson = given.flag("json");
  const say = (lines: string) => {
    try {
      toConsole(asJson ? asJsonLines(lines) : lines);
    } catch {
      // A failing console does not end the service, which reports it as a failing sink.
    }
  };
  const systemInfo = copySystemInfo();
  const manager = connectServiceManager(
    systemInfo.environment,
    (error) => say(`The service manager cannot be notified: ${error}\n`),
  );
  let service: RunningService | undefined;
  let [ending, reloading] = [false, false];
  const end = () => {
    ending = true;
    service?.stop();
  };
  // Signals no longer end the process; an early signal waits for the start.
  const reload = () => service === undefined ? reloading = true : void service.reload();
  const signals = { SIGTERM: end, SIGINT: end, SIGHUP: reload } as const;
  const names = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
  for (const name of names) Deno.addSignalListener(name, signals[name]);
  try {
    say(`Reading config from ${file}\n`);
    service = await startService(
      file,
      async (diagnostic) => io.stderr((await import("../diagnosis/fix.ts")).withRemedy(diagnostic)),
      { manager, systemInfo, console: asJson ? (lines) => toConsole(asJsonLines(lines)) : undefined },
    );
    await dropSystemAccess();
    const name = given.text("name");
    const { rejected } = service;
    globalThis.addEventListener("unhandledrejection", (event) => {
      event.preventDefault();
      rejected(event.reason);
    });
    say(
      `${name} ${VERSION}\n***** Server started. *****\nSend TERM signal to shutdown gracefully.\n`,
    );
    const { logFile } = service.parts.supervisor.reports; // a start-up log would grow without bound
    logFile.prefersFile = attempt(() => fstatSync(1).isFile(), Error, () => false);
    if (reloading) void service.reload();
    if (ending) service.stop();
    await service.stopped;
    return 0;
  } finally {
    await CONSOLE.flush();
    for (const name of names) Deno.removeSignalListener(name, signals[name]);
  }
});
