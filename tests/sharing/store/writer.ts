/** Puts shares into a store as fast as it can and prints each id; `killed_writer_test.ts` kills it. */
import { openShareStore } from "../../../src/sharing/store/share_store.ts";
import { DRAFT, USE } from "./conformance.ts";

const [file = "", prefix = ""] = Deno.args;
const store = openShareStore(file, Date.now);
const output = new TextEncoder();
for (let i = 0;; i++) {
  const { id } = await store.put("A", { ...DRAFT, path: `/${prefix}/${i}`, oneTime: i % 2 === 0 });
  if (i % 3 === 0) await store.claim("A", id, USE);
  Deno.stdout.writeSync(output.encode(`${id} ${i}\n`));
}
