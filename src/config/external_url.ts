import type { SiteConfig } from "./service_config.ts";

/** Returns the external URL for a port that the system chose. */
export function externalUrlAt({ externalUrl, externalUrlGiven }: SiteConfig, port: number): string {
  return externalUrlGiven ? externalUrl : externalUrl.replace(/:0(?=\/|$)/, `:${port}`);
}
