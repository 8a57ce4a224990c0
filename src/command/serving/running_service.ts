import { changedKeys, type EffectiveValue } from "../../config/key_reader.ts";
import { resolve } from "node:path";
import type { ServiceConfig, TruststoreConfig } from "../../config/service_config.ts";
import { type Console, LogFile, toConsole } from "../../logging/log_file.ts";
import { exportedLines, exportsLines, forJournal, isJournal } from "../../logging/line_forms.ts";
import { type Diagnostic, formatDiagnostic, isError } from "../../model/diagnostic.ts";
import { messageOf } from "../../model/text.ts";
import { CannotStart } from "../../workers/worker_lifecycle.ts";
import { ownControlSocket } from "../../workers/control_socket.ts";
import { Operations, type OperationsConfig } from "../../workers/operations.ts";
import { Supervisor } from "../../workers/supervisor.ts";
import { AS_ROOT, SYSTEM_INFO, type SystemInfo } from "../system_info.ts";
import { watchPaths } from "../../watch/watch_paths.ts";
import { VERSION } from "../../service/version.ts";
import { CommandFailed } from "../command.ts";
import { inspectStart } from "../diagnosis/inspect.ts";
import { ServiceManager } from "./service_manager.ts";
import { type CertificateFiles, loadCertificates } from "../../service/assembly/load_snapshot.ts";

/** Exit status for configuration errors (`EX_CONFIG` of sysexits.h), after which systemd does not restart. */
const CONFIGURATION_ERROR = 78;
/** Diagnostic of {@link inspectStart} that can pass without a new configuration, so that systemd restarts the service. */
const DISK_IS_FULL = /^the disk of .* is full$/;

/**
 * Starts the service from its main configuration file.
 * @param report Called with all diagnostics if the start fails; else they are logged.
 * @param options.console Second sink of log lines; default standard output.
 * @throws {CommandFailed} For configuration errors, or if the workers cannot start.
 */
export async function startService(
  file: string,
  report: (diagnostic: Diagnostic) => unknown,
  { manager = new ServiceManager(), systemInfo = SYSTEM_INFO, console = consoleFor(systemInfo) }: {
    readonly console?: Console;
    readonly manager?: ServiceManager;
    readonly systemInfo?: SystemInfo;
  } = {},
): Promise<RunningService> {
  const { snapshot, diagnostics, files, effective } = await inspectStart(file, systemInfo);
  if (snapshot === undefined) {
    for (const diagnostic of diagnostics) await report(diagnostic);
    const mayPass = diagnostics.filter(isError).every(({ expected }) => DISK_IS_FULL.test(expected));
    const status = mayPass ? 1 : CONFIGURATION_ERROR;
    throw new CommandFailed(`The configuration in ${file} cannot be used`, { status });
  }
  const logFile = new LogFile(snapshot.config.logging.file, console, snapshot.config.logging);
  const options = { logFile, hostName: systemInfo.hostName() };
  const started = Promise.withResolvers<RunningService>();
  const reload = async () => await (await started.promise).reload();
  let watched: () => Watched = () => ({ config: snapshot.config, files });
  const watch = watchConfiguration(() => watched(), { // from now on, to reload files after the start that change during it
    reload,
    renewCertificates: async () => await (await started.promise).renewCertificates(),
    failed: async (error) => (await started.promise).rejected(error),
  });
  const fail = (error: unknown): never => {
    watch.close();
    if (!(error instanceof CannotStart)) throw error;
    const status = error.permanent ? CONFIGURATION_ERROR : 1;
    throw new CommandFailed(error.message, { cause: error, status });
  };
  const supervisor = await Supervisor.start(snapshot, options).catch(fail);
  const operations = await Operations.start(
    { supervisor, reload, configuration: resolve(file) },
    operationsOf(snapshot.config, systemInfo),
  ).catch(async (error) => {
    await supervisor.stop();
    return fail(error);
  });
  const { site: { name: site, host } } = snapshot.config;
  supervisor.log.info("service started", { version: VERSION, site, host, port: supervisor.port });
  if (systemInfo.uid() === 0) supervisor.log.warn(AS_ROOT);
  diagnostics.forEach((diagnostic) =>
    supervisor.log.warn("configuration", { diagnostic: formatDiagnostic(diagnostic) })
  );
  const parts = { file, supervisor, operations, manager, systemInfo, watch };
  const service = new RunningService(parts, { config: snapshot.config, files }, effective);
  watched = () => service.watched;
  started.resolve(service);
  return service;
}

/** The journal adds its own times and priorities (systemd.exec(5), "JOURNAL_STREAM"). */
function consoleFor({ environment }: SystemInfo): Console {
  const console = isJournal(1, environment) ? (text: string) => toConsole(forJournal(text)) : toConsole;
  return exportsLines(environment) ? exportedLines(console) : console;
}

function operationsOf(config: ServiceConfig, { environment }: SystemInfo): OperationsConfig {
  return { config, controlSocket: ownControlSocket({ ...config, environment }) };
}

/** Running service that reloads changed files. */
export class RunningService {
  readonly #stopped = Promise.withResolvers<void>();
  readonly stopped = this.#stopped.promise;
  readonly #endWatchdog: () => void;
  watched: Watched;
  #effective: readonly EffectiveValue[];
  #stopping = false;
  /** Serialises reloads and renewals, so that none restores an outdated state. */
  #reloading: Promise<unknown> = Promise.resolve();
  #awaited: { close(): void } | undefined; // files behind the last failed reload; a change triggers another

  constructor(
    readonly parts: {
      readonly file: string;
      readonly supervisor: Supervisor;
      readonly operations: Operations;
      readonly manager: ServiceManager;
      readonly systemInfo: SystemInfo;
      readonly watch: { close(): void };
    },
    watched: Watched,
    effective: readonly EffectiveValue[],
  ) {
    this.watched = watched;
    this.#effective = effective;
    this.#tellReady();
    this.#endWatchdog = sendKeepAlives(parts.manager, () => parts.supervisor.alive);
  }

  get port(): number {
    return this.parts.supervisor.port;
  }

  readonly reload = (): Promise<void> => this.#inTurn(() => this.#reload());

  readonly renewCertificates = (): Promise<boolean> => this.#inTurn(() => this.#renewCertificates());

  readonly stop = (): void => {
    if (this.#stopping) return; // a second signal does not cut running requests
    this.#stopping = true;
    this.parts.watch.close();
    this.#awaited?.close();
    void this.#end();
  };

  readonly rejected = (error: unknown): void => {
    this.parts.supervisor.log.error("unhandled rejection", { error });
    this.parts.supervisor.reports.rejected("supervisor");
  };

  async #end(): Promise<void> {
    const { drainSeconds } = this.watched.config;
    const { manager, operations, supervisor } = this.parts;
    manager.stopping(drainSeconds);
    if (drainSeconds > 0) await supervisor.leave(drainSeconds);
    const ms = manager.stopMs;
    const late = setTimeout(() => {
      supervisor.log.error("shutdown took too long, running requests are cut off", { ms });
      this.#stopped.resolve();
    }, ms);
    await operations.close();
    await supervisor.stop();
    clearTimeout(late);
    this.#endWatchdog();
    manager.close();
    this.#stopped.resolve();
  }

  #inTurn<T>(change: () => Promise<T>): Promise<T> {
    const done = this.#reloading.then(change);
    this.#reloading = done.catch(() => {}); // the caller gets the error
    return done;
  }

  async #reload(): Promise<void> {
    const { file, supervisor, operations, manager, systemInfo } = this.parts;
    if (this.#stopping) return supervisor.reports.reloaded(["the service is shutting down"]);
    manager.reloading();
    this.#awaited?.close();
    let dependsOn: readonly string[] = [];
    try {
      const inspection = await inspectStart(file, systemInfo, { inUse: true });
      const { snapshot, diagnostics, files, effective } = inspection;
      dependsOn = inspection.dependsOn;
      this.#report(diagnostics);
      if (snapshot === undefined) {
        this.#tryAgainWith(dependsOn);
        supervisor.reports.reloaded(diagnostics.filter(isError).map(formatDiagnostic));
        supervisor.log.error("the new configuration cannot be used, the one before stays", { file });
        return;
      }
      await supervisor.reload(snapshot);
      await operations.reload(operationsOf(snapshot.config, systemInfo));
      supervisor.reports.reloaded();
      this.watched = { config: snapshot.config, files };
      const keys = changedKeys(this.#effective, effective);
      if (keys.length > 0) supervisor.log.info("settings changed", { keys: keys.join(" ") });
      this.#effective = effective;
    } catch (error) {
      this.#tryAgainWith(dependsOn);
      supervisor.log.error("reload failed, the configuration before stays", { file, error });
      supervisor.reports.reloaded([messageOf(error)]);
    } finally {
      this.#tellReady();
    }
  }

  #tryAgainWith(dependsOn: readonly string[]): void {
    if (this.#stopping) return;
    const { config } = this.watched;
    const others = dependsOn.filter((file) => !config.sources.all.includes(file));
    this.#awaited = watchPaths(() => others, this.reload, { failed: this.rejected });
  }

  /** Renews the certificates of the configuration in use. @returns Whether they are in use now. */
  async #renewCertificates(): Promise<boolean> {
    const { file, supervisor } = this.parts;
    const { config, files } = this.watched;
    const { material, diagnostics, files: found } = await loadCertificates(config, file);
    this.#report(diagnostics);
    this.watched = { config, files: { ...files, ...found } };
    const errors = diagnostics.filter(isError).map(formatDiagnostic);
    supervisor.reports.refusedCertificates = errors;
    const usable = errors.length === 0;
    if (!usable) supervisor.log.error("the new certificates cannot be used, the ones before stay");
    else if (material) await supervisor.renewTls(material);
    return usable;
  }

  #report(diagnostics: readonly Diagnostic[]): void {
    for (const diagnostic of diagnostics) {
      const level = isError(diagnostic) ? "error" : "warn";
      this.parts.supervisor.log[level]("configuration", { diagnostic: formatDiagnostic(diagnostic) });
    }
  }

  #tellReady(): void {
    const { supervisor: { port, generation }, manager } = this.parts;
    manager.ready(`Serving port ${port}, configuration ${generation}`);
  }
}

/** Sends keep-alives at twice the required rate. @returns Stops them. */
function sendKeepAlives(manager: ServiceManager, isAlive: () => boolean): () => void {
  if (manager.watchdogMs === undefined) return () => {};
  const timer = setInterval(() => isAlive() && manager.alive(), manager.watchdogMs / 2);
  return () => clearInterval(timer);
}

interface Watched {
  readonly config: ServiceConfig;
  readonly files: CertificateFiles;
}

interface OnChange {
  readonly reload: () => unknown; // for configuration changes, and certificates that need a new core
  readonly renewCertificates: () => unknown; // for own or trusted certificates
  readonly failed: (error: unknown) => void; // receives errors of both
}

const SECOND = 1000;
const MAX_MS = 24 * 3600 * SECOND; // a day; timers take at most 24 days

type Store = readonly [TruststoreConfig | undefined, files: readonly string[]];

/**
 * Watches the files of a configuration: its own (`container.runtimeConfigurationUpdate`), own certificate and key
 * (`reloadOnChange`), trusted certificates (`updateInterval`; those of daemons at the shortest of all servers), and those
 * of other issuers. @param current Called at each check, since a reload may change files and settings.
 */
export function watchConfiguration(
  current: () => Watched,
  { reload, renewCertificates: renew, failed }: OnChange,
  watch: typeof watchPaths = watchPaths,
): { close(): void } {
  const watchStores = (of: (watched: Watched) => readonly Store[], onChange: OnChange["reload"]) => {
    const seconds = ([store]: Store) => store?.updateIntervalSeconds ?? -1;
    const enabled = () => of(current()).filter((store) => seconds(store) >= 0);
    return watch(() => enabled().flatMap(([, files]) => files), onChange, {
      failed,
      intervalMs: () => {
        const [shortest = 0] = enabled().map(seconds).toSorted((a, b) => a - b); // 0: disabled, which a reload may change
        return Math.min(MAX_MS, Math.max(SECOND, shortest * SECOND));
      },
    });
  };
  const signers = ({ gateway, issuedTokens }: ServiceConfig) =>
    [gateway.certificate ?? [], issuedTokens.trustedIssuerFiles].flat();
  const watches = [
    watch(() => current().config.liveReload ? current().config.sources.all : [], reload, { failed }),
    watch(() => signers(current().config), reload, { failed }),
    watch(() => current().config.credential?.reloadOnChange ? current().files.credential : [], renew, {
      failed,
    }),
    watchStores(({ config, files }) => [[config.truststore, files.truststore]], renew),
    watchStores(({ config, files }) => [[config.clientTruststore, files.clients]], renew),
    watchStores(({ config, files }) => [[config.providerTruststore, files.providers]], renew),
    watchStores(
      ({ config: { servers }, files }) =>
        servers.map(({ truststore }, i) => [truststore, files.daemons[i] ?? []]),
      renew,
    ),
    watchStores(({ config, files }) => [[config.trustedAssertionIssuers, files.assertionIssuers]], reload),
  ];
  return { close: () => watches.forEach((each) => each.close()) };
}
