/** A browser whose download takes longer than the idle time. */
import assert from "node:assert/strict";
import { SILENT } from "../../src/logging/logger.ts";
import { loadSnapshot } from "../../src/service/assembly/load_snapshot.ts";
import { answerWeb } from "../../src/service/mount.ts";
import { createService } from "../../src/service/service.ts";
import { formToken, OWN_PAGE } from "../system/visitor.ts";
import { ALICE } from "../system/running_service.ts";
import { createSharingSite } from "../system/sharing/sharing_system.ts";

Deno.test("a browser stays signed in while it downloads a file, and not after that", async () => {
  await using site = await createSharingSite({
    properties: { "container.feature.Files.enable": "true", "container.security.browser.idleTime": "120" },
  });
  await Deno.mkdir(`${site.folder}/data`);
  await Deno.truncate(`${site.data}/d/ten.txt`, 100_000_000);
  const { snapshot } = await loadSnapshot(site.main, { environment: () => undefined });
  assert(snapshot !== undefined);
  let ahead = 0;
  const options = { ...snapshot, generation: 1, upSince: Date.now(), port: 9000 };
  const service = await createService(options, { log: SILENT, clock: () => Date.now() + ahead });
  const cookies = new Map<string, string>();
  const get = async (path: string, form?: Readonly<Record<string, string>>) => {
    const headers = { Accept: "text/html", Cookie: [...cookies].map((pair) => pair.join("=")).join("; ") };
    const body = form && new URLSearchParams(form);
    const request = new Request(`https://localhost${path}`, {
      headers: form ? { ...headers, ...OWN_PAGE } : headers,
      ...(body && { body, method: "POST" }),
    });
    const response = await answerWeb(service, request, { address: "192.0.2.1" });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
  const timers = new Map<number, () => void>();
  const { setInterval: every } = globalThis;
  try {
    const [user, password] = ALICE;
    const token = formToken({ text: await (await get("/login")).text() });
    assert.equal((await get("/login", { token, user, password })).status, 303);
    globalThis.setInterval = ((run: () => void, ms: number) => {
      if (ms === 40_000) timers.set(timers.size, run);
      return every(run, ms);
    }) as typeof setInterval;
    const download = await get(`/files/HPC${site.data}/d/ten.txt`);
    assert.equal(download.status, 200);
    globalThis.setInterval = every;
    assert.equal(timers.size, 1, "a third of the idle time");
    for (let i = 0; i < 5; i++) {
      ahead += 100_000;
      timers.get(0)?.();
      await new Promise((done) => setTimeout(done, 50));
    }
    assert.equal((await get("/files")).status, 200);
    await download.body?.cancel();
    ahead += 130_000;
    assert.equal((await get("/files")).status, 303);
  } finally {
    globalThis.setInterval = every;
    await service.close();
  }
});
