/**
 * Makes shares one after the other until it is killed, and prints the id of each acknowledged share.
 * Argument: file of the store.
 */
import { openShareStore } from "../../src/sharing/store/share_store.ts";

const [file = ""] = Deno.args;
const store = openShareStore(file, Date.now);
const ENCODER = new TextEncoder();
for (let i = 0;; i++) {
  const { id } = await store.put("HPC", {
    path: `/data/${Deno.pid}/${i}`,
    owner: "cn=ann",
    uid: "ann",
    target: "cn=bob",
    access: "READ",
    expires: 0,
    oneTime: false,
    sources: [],
  });
  Deno.stdout.writeSync(ENCODER.encode(`${id}\n`));
}
