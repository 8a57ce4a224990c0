import type { ServiceConfig, TruststoreConfig } from "../../config/service_config.ts";
import { type PathsWatch, watchPaths } from "../../watch/watch_paths.ts";
import type { CertificateFiles } from "../../service/assembly/load_snapshot.ts";

/** Last configuration with its files. */
export interface Watched {
  readonly config: ServiceConfig;
  readonly files: CertificateFiles;
}

interface OnChange {
  /** For configuration changes, and certificates that need a new core. */
  readonly reload: () => Promise<void> | void;
  readonly renewCertificates: () => Promise<void> | void; // for own or trusted certificates
  readonly failed: (error: unknown) => void; // receives errors of both
}

const SECOND = 1000;
/** A day; timers take at most 24 days. */
const LONGEST_MS = 24 * 3600 * SECOND;

/**
 * Watches the files of a configuration: its own (`container.runtimeConfigurationUpdate`), own certificate and key
 * (`reloadOnChange`), trusted certificates (`updateInterval`). @param current Called at each look, since a reload may change
 * files and settings.
 */
export function watchConfiguration(
  current: () => Watched,
  { reload, renewCertificates, failed }: OnChange,
  watch: typeof watchPaths = watchPaths,
): PathsWatch {
  const watches = [
    watch(() => current().config.liveReload ? current().config.sources.all : [], reload, { failed }),
    watch(
      () => current().config.credential?.reloadOnChange ? current().files.credential : [],
      renewCertificates,
      { failed },
    ),
    watchStore(
      () => current().config.truststore,
      () => current().files.truststore,
      { onChange: renewCertificates, failed },
      watch,
    ),
    watchStore(
      () => current().config.trustedAssertionIssuers,
      () => current().files.assertionIssuers,
      { onChange: reload, failed },
      watch,
    ),
  ];
  return { close: () => watches.forEach((one) => one.close()) };
}

function watchStore(
  store: () => TruststoreConfig | undefined,
  files: () => readonly string[],
  { onChange, failed }: { readonly onChange: OnChange["reload"]; readonly failed: OnChange["failed"] },
  watch: typeof watchPaths,
): PathsWatch {
  const seconds = () => store()?.updateIntervalSeconds ?? -1;
  return watch(() => seconds() < 0 ? [] : files(), onChange, {
    failed,
    // Negative: disabled, but a reload may change that.
    intervalMs: () => seconds() < 0 ? SECOND : Math.min(LONGEST_MS, Math.max(SECOND, seconds() * SECOND)),
  });
}
