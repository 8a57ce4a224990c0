import { EVERYBODY } from "../../../src/sharing/share.ts";
import { SHARE_DATABASE } from "../../../src/sharing/store/schema.ts";
import { openShareStore } from "../../../src/sharing/store/share_store.ts";
import { ALICE_DN, MAP, passwordLine, PASSWORDS } from "../../system/running_service.ts";
import { canonicalDn } from "../../../src/model/distinguished_name.ts";
import { BASIC, SHARING, startBenchSite } from "../bench_site.ts";
import { costOf } from "../cost.ts";
import type { Figure, Measurement } from "../figure.ts";

const COUNTS = [1, 100, 10_000];
/** Owner of all shares but one. */
const BOB = ["bob", "builder-1999"] as const;
const BOB_DN = "CN=Bob,O=Demo,C=EU";

export const shares: Measurement = {
  name: "shares",
  summary: "Lists, downloads and sessions of shares, with 1, 100, 10,000 shares in the store",
  async run() {
    const figures: Figure[] = [];
    for (const count of COUNTS) figures.push(...await withShares(count));
    return figures;
  },
};

async function withShares(count: number): Promise<readonly Figure[]> {
  await using bench = await startBenchSite({
    ...SHARING,
    passwords: PASSWORDS + passwordLine(BOB, BOB_DN),
    map: JSON.stringify({ ...MAP, [BOB_DN]: { role: "user" } }),
  });
  const { folder } = bench.site;
  const path = `${folder}/data/ten.txt`;
  await Deno.writeTextFile(path, "0123456789");
  const store = openShareStore(`${folder}/data/${SHARE_DATABASE}`, Date.now);
  const draft = {
    uid: "alice",
    target: EVERYBODY,
    access: "READ",
    expires: 0,
    oneTime: false,
    sources: [],
  } as const;
  const { id } = await store.put("HPC", { ...draft, path, owner: canonicalDn(ALICE_DN) });
  for (let i = 1; i < count; i++) {
    const path = `${folder}/data/${i % 100}/${i}`;
    await store.put("HPC", { ...draft, path, owner: canonicalDn(BOB_DN), target: `cn=user ${i}` });
  }
  store.close();
  const bob = { Authorization: `Basic ${btoa(BOB.join(":"))}` };
  const alice = { Authorization: BASIC };
  const loads = {
    "list of an owner with one share": { path: "share/HPC", headers: alice },
    ...(count > 1 && { "list of the owner of all others": { path: "share/HPC", headers: bob } }),
    "download of ten bytes": { path: `access/HPC/${id}`, headers: bob },
    "session for a shared path": {
      path: "access/HPC",
      headers: bob,
      body: JSON.stringify({ serverPath: path }),
    },
  };
  const figures: Figure[] = [];
  for (const [what, { path, ...load }] of Object.entries(loads)) {
    const value = await costOf(bench.process, { ...load, url: `${bench.url}/rest/${path}`, connections: 8 });
    figures.push({
      what: `${what}, processor time, ${count.toLocaleString("en")} shares`,
      value,
      unit: "µs",
    });
  }
  return figures;
}
