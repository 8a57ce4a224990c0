import { startBenchSite } from "./bench_site.ts";

Deno.test("startBenchSite() starts a service that logs nothing below errors", async () => {
  await using _site = await startBenchSite({ properties: { "container.logging.level": "error" } });
});
