import { LogFile } from "../logging/log_file.ts";
import type { LineSink } from "../logging/logger.ts";
import { formatProblem, type Problem } from "../model/problem.ts";
import { CannotStart } from "../rooms/cannot_start.ts";
import { Supervisor } from "../rooms/supervisor.ts";
import { VERSION } from "../service/version.ts";
import { watchPaths } from "../watch/watch_paths.ts";
import { CommandFailed, defineCommand } from "./command.ts";
import { CONFIG_OPTION } from "./config_option.ts";
import { inspect } from "./inspect.ts";
import { connectServiceManager, NO_SERVICE_MANAGER, type ServiceManager } from "./service_manager.ts";

/** `authserver serve`: runs the service until it is told to stop. */
export const serve = defineCommand({
  name: "serve",
  summary: "Run the service (the default command)",
  details: [
    "SIGTERM and SIGINT end it: requests under way finish first, for at most 20 seconds.",
    "SIGHUP reads the configuration again; so does a change of one of its files.",
    "Under systemd (Type=notify) it tells when it is ready, reloads and stops, and that it is alive.",
  ],
  operands: {},
  options: {
    config: CONFIG_OPTION,
    name: {
      value: "NAME",
      default: "AUTHSERVER",
      help: "Name of this service in the process list and in messages",
    },
  },
}, async (given, io) => {
  const file = given.text("config") ?? CONFIG_OPTION.default;
  io.stdout(`Reading config from ${file}\n`);
  const manager = connectServiceManager(
    (name) => Deno.env.get(name),
    (error) => io.stderr(`The service manager cannot be told how the service fares: ${error}\n`),
  );
  const service = await startService(
    file,
    (problem) => io.stderr(`${problem.severity}: ${formatProblem(problem)}\n`),
    { manager },
  );
  const signals = listen({ SIGTERM: service.stop, SIGINT: service.stop, SIGHUP: service.reload });
  io.stdout(
    `${
      given.text("name")
    } ${VERSION}\n***** Server started. *****\nSend TERM signal to shutdown gracefully.\n`,
  );
  await service.stopped;
  signals.forget();
  return 0;
});

/** A running service that reads its files again when they change. */
export interface RunningService {
  readonly port: number;
  /** Reads the configuration again; a bad one is reported in the log and changes nothing. */
  readonly reload: () => void;
  readonly stop: () => void;
  readonly stopped: Promise<void>;
}

/**
 * Starts the service from its main configuration file.
 * @param report Told of every problem that there is, before the start.
 * @param options.console Where log lines go besides the log file; default standard output.
 * @param options.manager Told how the service fares from the start on.
 * @throws {CommandFailed} If there is an error among them, or the rooms cannot start.
 */
export async function startService(
  file: string,
  report: (problem: Problem) => void,
  { console, manager = NO_SERVICE_MANAGER }: {
    readonly console?: LineSink;
    readonly manager?: ServiceManager;
  } = {},
): Promise<RunningService> {
  let inspection = await inspect(file);
  inspection.problems.forEach(report);
  if (inspection.setup === undefined) throw new CommandFailed(`the configuration in ${file} cannot be used`);
  const logFile = new LogFile(inspection.setup.config.logging.file, console);
  const supervisor = await Supervisor.start(inspection.setup, { logFile }).catch((error: unknown) => {
    throw error instanceof CannotStart ? new CommandFailed(error.message, { cause: error }) : error;
  });
  const { log } = supervisor;
  const { config } = inspection.setup;
  log.info("service started", {
    version: VERSION,
    site: config.site.name,
    host: config.site.host,
    port: supervisor.port,
  });
  inspection.problems.forEach((problem) => log.warn("configuration", { problem: formatProblem(problem) }));

  const tellReady = () =>
    manager.ready(`Serving port ${supervisor.port}, configuration ${supervisor.generation}`);
  tellReady();
  const endWatchdog = beat(manager, () => supervisor.alive);

  let reloading: Promise<void> = Promise.resolve();
  const reload = () => {
    reloading = reloading.then(async () => {
      manager.reloading();
      const next = await inspect(file);
      next.problems.forEach((problem) =>
        log[problemLevel(problem)]("configuration", { problem: formatProblem(problem) })
      );
      if (next.setup === undefined) {
        log.error("the new configuration cannot be used, the one before stays", { file });
        return;
      }
      await supervisor.reload(next.setup);
      inspection = next;
    }).catch((error) => log.error("reload failed, the configuration before stays", { file, error }))
      .then(tellReady);
  };
  const renewCertificates = async () => {
    const next = await inspect(file);
    inspection = { ...inspection, certificateFiles: next.certificateFiles };
    next.problems.forEach((problem) =>
      log[problemLevel(problem)]("configuration", { problem: formatProblem(problem) })
    );
    if (next.setup?.material) supervisor.renewTls(next.setup.material);
    else log.error("the new certificates cannot be used, the ones before stay");
  };
  const watches = [
    watchPaths(() => inspection.setup?.config.sources.all ?? config.sources.all, reload),
    watchPaths(() => inspection.certificateFiles, renewCertificates),
  ];
  const { promise: stopped, resolve: done } = Promise.withResolvers<void>();
  const stop = () => {
    watches.forEach((watch) => watch.close());
    manager.stopping();
    void supervisor.stop().then(() => {
      endWatchdog();
      manager.close();
      done();
    });
  };
  return { port: supervisor.port, reload, stop, stopped };
}

/** Tells the manager, twice in the time it wants it, that the service is alive. @returns Ends that. */
function beat(manager: ServiceManager, isAlive: () => boolean): () => void {
  if (manager.watchdogMs === undefined) return () => {};
  const timer = setInterval(() => isAlive() && manager.alive(), manager.watchdogMs / 2);
  return () => clearInterval(timer);
}

function problemLevel({ severity }: Problem): "warn" | "error" {
  return severity === "error" ? "error" : "warn";
}

function listen(handlers: Partial<Record<Deno.Signal, () => void>>): { forget(): void } {
  const entries = Object.entries(handlers) as [Deno.Signal, () => void][];
  for (const [signal, handler] of entries) Deno.addSignalListener(signal, handler);
  return {
    forget: () => {
      for (const [signal, handler] of entries) Deno.removeSignalListener(signal, handler);
    },
  };
}
