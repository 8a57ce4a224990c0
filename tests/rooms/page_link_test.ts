import assert from "node:assert/strict";
import { metricsAnswer } from "../../src/rooms/metrics_answer.ts";
import { PageCaller, servePage } from "../../src/rooms/page_link.ts";
import { HeaderList } from "../../src/model/header_list.ts";

/** What an answer is asked with; nothing of it may cross. */
const SCRAPE = {
  method: "GET",
  path: "/metrics",
  query: "name=value",
  headers: new HeaderList(["X-Foreign", "text"]),
  client: { address: "192.0.2.1" },
  body: null,
};
const NEVER = new AbortController().signal;

Deno.test("nothing of what scrapers send reaches who makes the page, and who asks meanwhile gets the page that is made", async () => {
  const { port1, port2 } = new MessageChannel();
  const asked: unknown[] = [];
  const failures: unknown[] = [];
  let made = 0;
  servePage(port1, () => {
    made++;
    return made === 2 ? Promise.reject(new Error("no")) : Promise.resolve(`page ${made}`);
  }, (error) => failures.push(error));
  const { onmessage } = port1;
  port1.onmessage = (event) => {
    asked.push(event.data);
    onmessage?.call(port1, event);
  };
  const caller = new PageCaller(port2);
  const answer = metricsAnswer(() => caller.page());
  try {
    const replies: unknown[] = [];
    for (let round = 0; round < 3; round++) {
      const all = await Promise.allSettled(Array.from({ length: 1000 }, () => answer(SCRAPE, NEVER)));
      replies.push(
        ...new Set(all.map((reply) => reply.status === "fulfilled" ? reply.value.body : "failed")),
      );
    }
    assert.deepEqual(replies, ["page 1", "failed", "page 3"]);
    assert.equal((await answer({ ...SCRAPE, path: "/" }, NEVER)).status, 404);
    assert.equal((await answer({ ...SCRAPE, method: "POST" }, NEVER)).status, 405);
    assert.deepEqual(asked, [null, null, null]);
    assert.equal(failures.length, 1);
  } finally {
    port1.close();
    port2.close();
  }
});
