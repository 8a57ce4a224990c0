import assert from "node:assert/strict";
import { onlyHttp } from "../outgoing/only_http.ts";
import { createAttributes } from "../../src/attributes/attribute_chain.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { loadSnapshot } from "../../src/service/assembly/load_snapshot.ts";
import { KINDS } from "../../src/service/kinds.ts";
import { ALICE_DN, createSite } from "../system/running_service.ts";

const DYNAMIC = "container.security.dynamicAttributes.";
const NEVER = new AbortController().signal;

/** Returns the attributes of Alice. @param dynamic Her entry in a dynamic source; absent: no such source. */
async function known(dynamic?: object) {
  await using site = await createSite({
    map: JSON.stringify({
      [ALICE_DN]: { role: "user", xlogin: "alice", group: "users", "uftpd.HPC.rateLimit": "1k" },
    }),
    ...(dynamic !== undefined && {
      properties: { [`${DYNAMIC}order`]: "FILE", [`${DYNAMIC}FILE.file`]: "{folder}/conf/dynamic.json" },
      files: { "conf/dynamic.json": JSON.stringify({ [ALICE_DN]: dynamic }) },
    }),
  });
  const { snapshot, diagnostics } = await loadSnapshot(site.main, { environment: () => undefined });
  assert(snapshot !== undefined, JSON.stringify(diagnostics));
  const source = await createAttributes(snapshot.config, KINDS.sources, {
    log: SILENT,
    clock: Date.now,
    outgoing: onlyHttp(),
    compile: () => assert.fail("no source has expressions"),
  });
  try {
    const { standard, extra } = await source.attributesOf({ dn: ALICE_DN, method: "", via: "" }, NEVER);
    return {
      standard: Object.fromEntries([...standard].map(([name, { preferred }]) => [name, preferred.join()])),
      extra: Object.fromEntries(extra),
    };
  } finally {
    source.close();
  }
}

const OWN = { role: "user", xlogin: "alice", group: "users" };
const EXTRA = { "uftpd.HPC.rateLimit": ["1k"] };

Deno.test("createAttributes() asks the configured sources", async () => {
  assert.deepEqual(await known(), { standard: OWN, extra: EXTRA });
});

Deno.test("createAttributes() uses dynamic sources only for accounts and groups", async () => {
  const dynamic = { role: "admin", xlogin: "guest7", group: "guests", "uftpd.HPC.rateLimit": "9M" };
  assert.deepEqual(await known(dynamic), {
    standard: { role: "user", xlogin: "guest7", group: "guests" },
    extra: EXTRA,
  });
  assert.deepEqual(await known({ role: "admin" }), { standard: OWN, extra: EXTRA });
});
