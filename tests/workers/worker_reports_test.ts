import assert from "node:assert/strict";
import { LogFile } from "../../src/logging/log_file.ts";
import { seriesText } from "../../src/metrics/counters.ts";
import { WorkerReports } from "../../src/workers/worker_reports.ts";

const LOGGING = { level: "info", file: undefined, format: "text", maxSize: 0, maxFiles: 1 } as const;

Deno.test("WorkerReports.close() writes lines that the audit file could not take before", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/audit/audit.log`;
  await Deno.writeTextFile(`${folder}/audit`, "in the way of the folder");
  const reports = new WorkerReports(new LogFile(undefined, () => {}), {
    logging: LOGGING,
    audit: { to: "file", path, required: false },
  }, { logServer: () => assert.fail("no log server") });
  reports.writeAudit(['{"one":1}']);
  await Deno.remove(`${folder}/audit`);
  await reports.close();
  assert.equal((await Deno.readTextFile(path)).trim(), '{"one":1}'); // a whole line
  await Deno.remove(folder, { recursive: true });
});

Deno.test("WorkerReports.close() logs how many audit lines a log server did not receive", async () => {
  const log: string[] = [];
  const reports = new WorkerReports(new LogFile(undefined, (text) => void log.push(text)), {
    logging: LOGGING,
    audit: { to: "syslog", address: "tls://logs.example", required: false },
  }, {
    logServer: (name) => ({
      name,
      open: () => Promise.reject(new Error("not there")),
      frame: () => new Uint8Array(),
    }),
  });
  reports.writeAudit(["1", "2"]);
  await reports.close();
  assert.match(log.join(""), /error audit lines not written to=tls:\/\/logs\.example error=.*not there/);
  assert.match(log.join(""), /error audit lines lost at the end lines=2/);
});

Deno.test("WorkerReports logs for a slow start which worker waits for what, and since when", async () => {
  const log: string[] = [];
  const reports = new WorkerReports(new LogFile(undefined, (text) => void log.push(text)), {
    logging: LOGGING,
    audit: { to: "file", path: "/nonexistent/audit.log", required: false },
  }, { logServer: () => assert.fail("no log server") });
  const fields = { worker: "core", awaited: "loading the program", seconds: 20 };
  reports.receive({ kind: "starting", fields }, "core");
  assert.match(
    log.join(""),
    /warn {2}worker still starting worker=core awaited="loading the program" seconds=20/,
  );
  await reports.close();
});

Deno.test("WorkerReports starts counters of alerts at 0, since an alert would miss one that starts at 1", async () => {
  const reports = new WorkerReports(new LogFile(undefined, () => {}), {
    logging: LOGGING,
    audit: { to: "console", required: false },
  }, { logServer: () => assert.fail("no log server") });
  const series = reports.counters.take().map((sample) => `${seriesText(sample)} ${sample.value}`);
  assert.deepEqual(series, [
    'authserver_unhandled_rejections_total{worker="supervisor"} 0',
    'authserver_unhandled_rejections_total{worker="edge"} 0',
    'authserver_unhandled_rejections_total{worker="core"} 0',
    'authserver_worker_restarts_total{worker="edge"} 0',
    'authserver_worker_restarts_total{worker="core"} 0',
    'authserver_config_reloads_total{result="ok"} 0',
    'authserver_config_reloads_total{result="failed"} 0',
  ]);
  await reports.close();
});
