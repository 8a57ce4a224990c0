import { changedKeys, type EffectiveValue } from "../../config/key_reader.ts";
import { resolve } from "node:path";
import type { ServiceConfig } from "../../config/service_config.ts";
import { type Console, LogFile, toConsole } from "../../logging/log_file.ts";
import { exportedLines, exportsLines, forJournal, isJournal } from "../../logging/line_forms.ts";
import { type Diagnostic, formatDiagnostic, isError } from "../../model/diagnostic.ts";
import { CannotStart } from "../../workers/worker_lifecycle.ts";
import { ownControlSocket } from "../../workers/control_socket.ts";
import { Operations, type OperationsConfig, type OperationsParts } from "../../workers/operations.ts";
import { Supervisor } from "../../workers/supervisor.ts";
import { AS_ROOT, SURROUNDINGS, type Surroundings } from "../surroundings.ts";
import { type PathsWatch, watchPaths } from "../../watch/watch_paths.ts";
import { VERSION } from "../../service/version.ts";
import { CommandFailed } from "../command.ts";
import { type Inspection, inspectStart } from "../diagnosis/inspect.ts";
import { NO_SERVICE_MANAGER, type ServiceManager } from "./service_manager.ts";
import { watchConfiguration, type Watched } from "./watch_configuration.ts";

/** Exit status for configuration errors (`EX_CONFIG` of sysexits.h), after which systemd does not restart. */
const CONFIGURATION_ERROR = 78;

/** Running service that reloads changed files. */
export interface RunningService {
  readonly port: number;
  /** Reloads the configuration; logs and ignores a bad one. */
  readonly reload: () => Promise<void>;
  readonly stop: () => void;
  readonly stopped: Promise<void>;
  /** Logs and counts an unhandled rejection. */
  readonly rejected: (error: unknown) => void;
}

/**
 * Starts the service from its main configuration file.
 * @param report Called with all diagnostics if the start fails; else they are logged.
 * @param options.console Second sink of log lines; default standard output.
 * @throws {CommandFailed} For configuration errors, or if the workers cannot start.
 */
export async function startService(
  file: string,
  report: (diagnostic: Diagnostic) => unknown,
  { manager = NO_SERVICE_MANAGER, surroundings = SURROUNDINGS, console = consoleFor(surroundings) }: {
    readonly console?: Console;
    readonly manager?: ServiceManager;
    readonly surroundings?: Surroundings;
  } = {},
): Promise<RunningService> {
  const { snapshot, diagnostics, files, effective } = await inspectStart(file, surroundings);
  if (snapshot === undefined) {
    for (const diagnostic of diagnostics) await report(diagnostic);
    throw new CommandFailed(`The configuration in ${file} cannot be used`, { status: CONFIGURATION_ERROR });
  }
  const logFile = new LogFile(snapshot.config.logging.file, console, snapshot.config.logging);
  const supervisor = await Supervisor.start(snapshot, {
    logFile,
    hostName: surroundings.hostName(),
  }).catch(
    (error: unknown) => {
      throw startFailure(error);
    },
  );
  const started = Promise.withResolvers<RunningService>();
  const reload = async () => await (await started.promise).reload();
  const operations = await startOperations(file, operationsOf(snapshot.config, surroundings), {
    supervisor,
    reload,
  });
  const { site } = snapshot.config;
  supervisor.log.info("service started", {
    version: VERSION,
    site: site.name,
    host: site.host,
    port: supervisor.port,
  });
  if (surroundings.uid() === 0) supervisor.log.warn(AS_ROOT);
  diagnostics.forEach((diagnostic) =>
    supervisor.log.warn("configuration", { diagnostic: formatDiagnostic(diagnostic) })
  );
  const watched = { config: snapshot.config, files };
  const parts = { supervisor, operations, manager, surroundings, watched, effective };
  const service = new SupervisedService(file, parts);
  started.resolve(service);
  return service;
}

async function startOperations(
  file: string,
  config: OperationsConfig,
  parts: Omit<OperationsParts, "configuration">,
): Promise<Operations> {
  try {
    return await Operations.start({ ...parts, configuration: resolve(file) }, config);
  } catch (error) {
    await parts.supervisor.stop();
    throw startFailure(error);
  }
}

function startFailure(error: unknown): unknown {
  if (!(error instanceof CannotStart)) return error;
  return new CommandFailed(error.message, {
    cause: error,
    status: error.permanent ? CONFIGURATION_ERROR : 1,
  });
}

/** The journal adds its own times and priorities (systemd.exec(5), "JOURNAL_STREAM"). */
function consoleFor({ environment }: Surroundings): Console {
  const console = isJournal(1, environment) ? (text: string) => toConsole(forJournal(text)) : toConsole;
  return exportsLines(environment) ? exportedLines(console) : console;
}

function operationsOf(config: ServiceConfig, { environment }: Surroundings): OperationsConfig {
  return { config, controlSocket: ownControlSocket({ ...config, environment }) };
}

class SupervisedService implements RunningService {
  readonly stopped: Promise<void>;
  readonly #file: string;
  readonly #supervisor: Supervisor;
  readonly #operations: Operations;
  readonly #manager: ServiceManager;
  readonly #surroundings: Surroundings;
  readonly #watch: { close(): void };
  readonly #endWatchdog: () => void;
  readonly #done: () => void;
  #watched: Watched;
  /** For comparison on reload. */
  #effective: readonly EffectiveValue[];
  #stopping = false;
  /** Serialises reloads and renewals, so that none restores an outdated state. */
  #reloading: Promise<void> = Promise.resolve();
  /** Files behind the last failed reload; a change triggers another. */
  #awaited: PathsWatch | undefined;

  constructor(
    file: string,
    { supervisor, operations, manager, surroundings, watched, effective }: {
      readonly supervisor: Supervisor;
      readonly operations: Operations;
      readonly manager: ServiceManager;
      readonly surroundings: Surroundings;
      readonly watched: Watched;
      readonly effective: readonly EffectiveValue[];
    },
  ) {
    this.#file = file;
    this.#supervisor = supervisor;
    this.#operations = operations;
    this.#manager = manager;
    this.#surroundings = surroundings;
    this.#watched = watched;
    this.#effective = effective;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.stopped = promise;
    this.#done = resolve;
    this.#tellReady();
    this.#endWatchdog = beat(manager, () => supervisor.alive);
    this.#watch = watchConfiguration(() => this.#watched, {
      reload: this.reload,
      renewCertificates: () => this.#inTurn(() => this.#renewCertificates()),
      failed: this.rejected,
    });
  }

  get port(): number {
    return this.#supervisor.port;
  }

  readonly reload = (): Promise<void> => this.#inTurn(() => this.#reload());

  readonly stop = (): void => {
    if (this.#stopping) return; // being asked again is no reason to cut what is under way
    this.#stopping = true;
    this.#watch.close();
    this.#awaited?.close();
    void this.#end();
  };

  readonly rejected = (error: unknown): void => {
    this.#supervisor.log.error("rejection that nobody handled", { error });
    this.#supervisor.reports.rejected("supervisor");
  };

  async #end(): Promise<void> {
    const { drainSeconds } = this.#watched.config;
    this.#manager.stopping(drainSeconds);
    if (drainSeconds > 0) await this.#supervisor.leave(drainSeconds);
    const ms = this.#manager.stopMs;
    const late = setTimeout(() => {
      this.#supervisor.log.error("shutdown took too long, ending with what is under way", { ms });
      this.#done();
    }, ms);
    await this.#operations.close();
    await this.#supervisor.stop();
    clearTimeout(late);
    this.#endWatchdog();
    this.#manager.close();
    this.#done();
  }

  #inTurn(change: () => Promise<void>): Promise<void> {
    const done = this.#reloading.then(change);
    this.#reloading = done.catch(() => {}); // told to whoever asked for it
    return done;
  }

  async #reload(): Promise<void> {
    if (this.#stopping) return this.#supervisor.reports.reloaded(["the service is shutting down"]);
    this.#manager.reloading();
    this.#awaited?.close();
    let dependsOn: readonly string[] = [];
    try {
      const inspection = await this.#inspect();
      const { snapshot, diagnostics, files, effective } = inspection;
      ({ dependsOn } = inspection);
      if (snapshot === undefined) {
        this.#tryAgainWith(dependsOn);
        this.#supervisor.reports.reloaded(diagnostics.filter(isError).map(formatDiagnostic));
        this.#supervisor.log.error("the new configuration cannot be used, the one before stays", {
          file: this.#file,
        });
        return;
      }
      await this.#supervisor.reload(snapshot);
      await this.#operations.reload(operationsOf(snapshot.config, this.#surroundings));
      this.#supervisor.reports.reloaded();
      this.#watched = { config: snapshot.config, files };
      const keys = changedKeys(this.#effective, effective);
      if (keys.length > 0) this.#supervisor.log.info("settings changed", { keys: keys.join(" ") });
      this.#effective = effective;
    } catch (error) {
      this.#tryAgainWith(dependsOn);
      this.#supervisor.log.error("reload failed, the configuration before stays", {
        file: this.#file,
        error,
      });
      this.#supervisor.reports.reloaded([error instanceof Error ? error.message : String(error)]);
    } finally {
      this.#tellReady();
    }
  }

  #tryAgainWith(dependsOn: readonly string[]): void {
    if (this.#stopping) return;
    const { config } = this.#watched;
    const others = dependsOn.filter((file) => !config.sources.all.includes(file));
    this.#awaited = watchPaths(() => others, this.reload, { failed: this.rejected });
  }

  async #renewCertificates(): Promise<void> {
    const { snapshot, files } = await this.#inspect();
    if (files.credential.length > 0) this.#watched = { ...this.#watched, files };
    if (snapshot?.material) await this.#supervisor.renewTls(snapshot.material);
    else this.#supervisor.log.error("the new certificates cannot be used, the ones before stay");
  }

  async #inspect(): Promise<Inspection> {
    const inspection = await inspectStart(this.#file, this.#surroundings, { inUse: true });
    for (const diagnostic of inspection.diagnostics) {
      const level = isError(diagnostic) ? "error" : "warn";
      this.#supervisor.log[level]("configuration", { diagnostic: formatDiagnostic(diagnostic) });
    }
    return inspection;
  }

  #tellReady(): void {
    const { port, generation } = this.#supervisor;
    this.#manager.ready(`Serving port ${port}, configuration ${generation}`);
  }
}

/** Sends keep-alives at twice the required rate. @returns Stops them. */
function beat(manager: ServiceManager, isAlive: () => boolean): () => void {
  if (manager.watchdogMs === undefined) return () => {};
  const timer = setInterval(() => isAlive() && manager.alive(), manager.watchdogMs / 2);
  return () => clearInterval(timer);
}
