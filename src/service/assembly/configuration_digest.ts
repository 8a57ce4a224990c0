import { hash } from "node:crypto";
import { dirname } from "node:path";
import type { ServiceConfig } from "../../config/service_config.ts";

/** What each instance has for itself: where it listens, and where its files and its operator's doors are. */
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
 * What tells whether two instances of one service are configured alike. Paths count from the folder that has that of the main
 * file. Nothing secret is part of it: it is shown to the other instances.
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
