import { startBenchSite } from "./bench_site.ts";

Deno.test("startBenchSite() starts a service that logs only errors", async () => {
  await using _site = await startBenchSite({ properties: { "container.logging.level": "error" } });
});
