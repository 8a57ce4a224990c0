import { hash } from "node:crypto";
import { dirname } from "node:path";
import type { ServiceConfig } from "../../config/service_config.ts";

/** Keys that may differ between instances: addresses, folders, admin access. */
const OWN: ReadonlySet<string> = new Set([
  "sources",
  "credential",
  "logging",
  "audit",
  "control",
  "metrics",
  "liveReload",
  "drainSeconds",
  "directory",
  "origin",
  "keyOrigin",
]);

/**
 * Returns a digest to compare the configurations of instances. Paths are relative to the main file. Omits secrets, since
 * other instances see it.
 */
export function configurationDigest(config: ServiceConfig): string {
  const folder = dirname(dirname(config.sources.main));
  const { name, externalUrl, externalUrlGiven } = config.site;
  const site = { name, externalUrl: externalUrlGiven ? externalUrl : undefined };
  const common = JSON.stringify({ ...config, site }, (name, value: unknown) => {
    if (OWN.has(name) || /password|secret/i.test(name)) return undefined;
    return typeof value === "string" && value.startsWith(`${folder}/`) ? value.slice(folder.length) : value;
  });
  return hash("sha256", common, "base64url").slice(0, 12);
}
