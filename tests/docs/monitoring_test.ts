import assert from "node:assert/strict";
import { AUDIT_MEMBERS } from "../../src/logging/audit_record.ts";
import { FAMILIES } from "../../src/metrics/families.ts";

const DOCS = new URL("../../docs/", import.meta.url).pathname;

/** Names of all series. */
const SERIES = new Set(
  Object.entries(FAMILIES).flatMap(([name, { type }]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]
  ),
);

for (const file of ["monitoring/alerts.yml", "monitoring/grafana-dashboard.json"]) {
  Deno.test(`${file} uses metrics that exist`, async () => {
    const text = await Deno.readTextFile(DOCS + file);
    const used = new Set(text.match(/\bauthserver_[a-z_]+/g));
    assert.ok(used.size > 5);
    assert.deepEqual([...used].filter((name) => !SERIES.has(name)), []);
  });
}

Deno.test("the alert rules name sections of the manual that exist", async () => {
  const rules = await Deno.readTextFile(`${DOCS}monitoring/alerts.yml`);
  const named = [...rules.matchAll(/docs\/([\w-]+\.md), ([^"]+)"/g)];
  assert.ok(named.length > 0);
  for (const [, page = "", section] of named) {
    assert.ok((await Deno.readTextFile(DOCS + page)).includes(`## ${section}\n`), `${page}: ${section}`);
  }
});

Deno.test("the dashboard shows every metric", async () => {
  const text = await Deno.readTextFile(`${DOCS}monitoring/grafana-dashboard.json`);
  const hidden = Object.keys(FAMILIES).filter((name) => !text.includes(name));
  // Decisions about shares, tokens, certificates and actions, and generation and time of a reload are for
  // ad-hoc questions; the start of the certificate is for alerts.
  assert.deepEqual(hidden.toSorted(), [
    "authserver_admin_actions_total",
    "authserver_certificate_start_timestamp_seconds",
    "authserver_config_last_reload_timestamp_seconds",
    "authserver_core_generation",
    "authserver_share_decisions_total",
    "authserver_ssh_certificates_total",
    "authserver_token_revocations_total",
    "authserver_tokens_total",
  ]);
});

Deno.test("the dashboard's panels neither overlap nor share an id", async () => {
  const { panels } = JSON.parse(await Deno.readTextFile(`${DOCS}monitoring/grafana-dashboard.json`));
  const taken = new Set<string>();
  for (const { id, gridPos: { x, y, w, h } } of panels) {
    assert.ok(!taken.has(`id ${id}`));
    taken.add(`id ${id}`);
    for (let column = x; column < x + w; column++) {
      for (let row = y; row < y + h; row++) {
        assert.ok(column < 24 && !taken.has(`${column} ${row}`), `panel ${id}`);
        taken.add(`${column} ${row}`);
      }
    }
  }
});

Deno.test({
  name: "promtool finds no errors in the alert rules",
  ignore: !(await new Deno.Command("which", { args: ["promtool"] }).output()).success,
  async fn() {
    const { success, stdout, stderr } = await new Deno.Command("promtool", {
      args: ["check", "rules", `${DOCS}monitoring/alerts.yml`],
    }).output();
    assert.ok(success, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
  },
});

Deno.test("the audit page explains exactly the members of a line", async () => {
  const text = await Deno.readTextFile(`${DOCS}audit.md`);
  const rows = text.split("\n").filter((line) => line.startsWith("| `"));
  const explained = rows.flatMap((row) =>
    [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name)
  );
  assert.deepEqual(explained.toSorted(), ["time", ...AUDIT_MEMBERS].toSorted());
});
