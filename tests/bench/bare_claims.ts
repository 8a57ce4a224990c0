/**
 * Claims uses of shares as an instance does, without the rest of the service. Arguments: port and name of a
 * PostgreSQL database with our tables, its user, concurrent claims, seconds. Prints number of claims,
 * milliseconds and processor time of this process: for one client, then for all clients at once.
 */
import process from "node:process";
import { ShareStore } from "../../src/sharing/store/share_store.ts";
import { PostgresDatabase } from "../../src/store/postgres/postgres_database.ts";

const [port = "", database = "", user = "", atOnce = "", seconds = ""] = Deno.args;
/** Claims until hot code is compiled. */
const WARM_UP = 5000;

const store = new ShareStore(
  new PostgresDatabase({
    servers: [{ host: "127.0.0.1", port: Number(port) }],
    login: { database, user, password: "" },
    connections: 8,
    timeoutMs: 60_000,
  }),
);
/** One share for each client, so that no client waits for another's share. */
const shares = await Promise.all(Array.from({ length: Number(atOnce) }, (_, i) =>
  store.put("HPC", {
    owner: "cn=owner",
    target: "cn=somebody",
    path: `/data/${i}`,
    uid: "alice",
    access: "READ",
    expires: 0,
    oneTime: false,
    sources: [],
  })));
const use = { who: "cn=somebody", address: "192.0.2.7", kind: "HTTP-download", path: "/data/file" } as const;

async function measure(parallel: number, wanted: (claims: number, ms: number) => boolean) {
  let claims = 0;
  const before = process.cpuUsage();
  const began = performance.now();
  await Promise.all(
    shares.slice(0, parallel).map(async ({ id }) => {
      while (wanted(claims, performance.now() - began)) {
        if (await store.claim("HPC", id, use) === undefined) throw new Error("a use was refused");
        claims++;
      }
    }),
  );
  const { user, system } = process.cpuUsage(before);
  return { claims, ms: performance.now() - began, cpuMs: (user + system) / 1000 };
}

await measure(Number(atOnce), (claims) => claims < WARM_UP);
console.log("warm");
const limit = Number(seconds) * 1000;
const alone = await measure(1, (_, ms) => ms < limit);
console.log(`alone ${alone.claims} ${alone.ms} ${alone.cpuMs}`);
const busy = await measure(Number(atOnce), (_, ms) => ms < limit);
console.log(`busy ${busy.claims} ${busy.ms} ${busy.cpuMs}`);
store.close();
