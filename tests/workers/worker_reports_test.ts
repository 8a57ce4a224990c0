import assert from "node:assert/strict";
import { LogFile } from "../../src/logging/log_file.ts";
import { WorkerReports } from "../../src/workers/worker_reports.ts";

Deno.test("WorkerReports writes at its end what the audit file did not take before", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/audit/audit.log`;
  await Deno.writeTextFile(`${folder}/audit`, "in the way of the folder");
  const reports = new WorkerReports(new LogFile(undefined, () => {}), {
    logging: { level: "info", file: undefined, format: "text", maxSize: 0, maxFiles: 1 },
    audit: { to: "file", path, required: false },
  }, { logServer: () => assert.fail("no log server") });
  reports.writeAudit(['{"one":1}']);
  await Deno.remove(`${folder}/audit`);
  await reports.close();
  assert.equal((await Deno.readTextFile(path)).trim(), '{"one":1}'); // whole, behind what may be cut off
  await Deno.remove(folder, { recursive: true });
});
