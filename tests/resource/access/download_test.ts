import assert from "node:assert/strict";
import { inTime } from "../../fixtures/deadline.ts";
import { BASE, SharingSite } from "../sharing_site.ts";

Deno.test("download() sends a whole file with headers that keep it harmless in a browser", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/ten.txt");
  const response = await site.ask("anonymous", "GET", `access/HPC/${id}`);
  assert.equal(response.status, 200);
  assert.deepEqual(Object.fromEntries(response.headers), {
    "accept-ranges": "bytes",
    "cache-control": "private, no-cache",
    "content-disposition": 'attachment; filename="ten.txt"',
    "content-length": "10",
    "content-security-policy": "default-src 'none'; sandbox",
    "content-type": "application/octet-stream",
    "etag": '"a-tbczi7"',
    "last-modified": "Wed, 04 Mar 2026 05:06:07 GMT",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  });
  assert.equal(await response.text(), "0123456789");
});

const RANGES: [string, number, string, string | null][] = [
  ["bytes=2-4", 206, "234", "bytes 2-4/10"],
  ["bytes=7-", 206, "789", "bytes 7-9/10"],
  ["bytes=-3", 206, "789", "bytes 7-9/10"],
  ["bytes=8-99", 206, "89", "bytes 8-9/10"],
  ["bytes=0-9", 206, "0123456789", "bytes 0-9/10"],
  ["bytes=10-", 416, "", "bytes */10"],
  ["bytes=-0", 416, "", "bytes */10"],
  ["bytes=0-1,5-6", 200, "0123456789", null],
  ["bytes=4-2", 200, "0123456789", null],
  ["lines=1-2", 200, "0123456789", null],
];

for (const [range, status, text, contentRange] of RANGES) {
  Deno.test(`download() of ${range} answers ${status}`, async () => {
    await using site = await SharingSite.open();
    const id = await site.share("d/");
    const response = await site.ask("anonymous", "GET", `access/HPC/${id}/ten.txt`, {
      headers: { Range: range },
    });
    assert.equal(response.status, status);
    assert.equal(response.headers.get("Content-Range"), contentRange);
    assert.equal(response.headers.get("Content-Length"), String(text.length));
    assert.equal(await response.text(), text);
  });
}

Deno.test("download() resumes with If-Range only if the file is still the same", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/ten.txt");
  const first = await site.ask("anonymous", "HEAD", `access/HPC/${id}`);
  const etag = first.headers.get("ETag") ?? "";
  const headers = { Range: "bytes=5-", "If-Range": etag };
  const same = await site.ask("anonymous", "GET", `access/HPC/${id}`, { headers });
  assert.deepEqual([same.status, await same.text()], [206, "56789"]);
  await Deno.writeTextFile(`${site.root}/d/ten.txt`, "abcdefghijk");
  const other = await site.ask("anonymous", "GET", `access/HPC/${id}`, { headers });
  assert.deepEqual([other.status, await other.text()], [200, "abcdefghijk"]);
});

Deno.test("download() sends no ranges and no strong validators of a file that was just written", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/ten.txt");
  const now = Math.floor(Date.now() / 1000);
  await Deno.utime(`${site.root}/d/ten.txt`, now, now);
  site.time.ahead = now * 1000 - Date.now();
  const first = await site.ask("anonymous", "GET", `access/HPC/${id}`);
  assert.equal(await first.text(), "0123456789");
  const etag = first.headers.get("ETag") ?? "";
  assert.match(etag, /^W\//);
  assert.equal(first.headers.get("Last-Modified"), null);
  assert.equal(first.headers.get("Accept-Ranges"), "none");
  await Deno.writeTextFile(`${site.root}/d/ten.txt`, "abcdefghij");
  await Deno.utime(`${site.root}/d/ten.txt`, now, now);
  // The new content has the same size and second.
  const conditions: Record<string, string>[] = [
    { Range: "bytes=5-", "If-Range": etag },
    { "If-None-Match": etag },
  ];
  for (const ahead of [0, 10_000]) {
    site.time.ahead = now * 1000 - Date.now() + ahead;
    for (const headers of conditions) {
      const again = await site.ask("anonymous", "GET", `access/HPC/${id}`, { headers });
      assert.deepEqual([again.status, await again.text()], [200, "abcdefghij"], JSON.stringify(headers));
    }
  }
  const headers = { Range: "bytes=5-" };
  const settled = await site.ask("anonymous", "GET", `access/HPC/${id}`, { headers });
  assert.deepEqual([settled.status, await settled.text()], [206, "fghij"]);
});

Deno.test("download() answers conditional requests without using the share", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/ten.txt", { onetime: "true" });
  const head = await site.ask("anonymous", "HEAD", `access/HPC/${id}`);
  assert.deepEqual([head.status, head.headers.get("Content-Length"), await head.text()], [200, "10", ""]);
  const etag = head.headers.get("ETag") ?? "";
  const conditions: [Record<string, string>, number][] = [
    [{ "If-None-Match": etag }, 304],
    [{ "If-Match": '"other"' }, 412],
    [{ Range: "bytes=99-" }, 416],
  ];
  for (const [headers, status] of conditions) {
    const response = await site.ask("anonymous", "GET", `access/HPC/${id}`, { headers });
    assert.deepEqual([response.status, await response.text()], [status, ""]);
  }
  assert.equal(await (await site.ask("anonymous", "GET", `access/HPC/${id}`)).text(), "0123456789");
  const again = await site.ask("anonymous", "GET", `access/HPC/${id}`);
  assert.equal(again.status, 404);
  await again.text();
});

Deno.test("download() of a shared file uses the session of the previous one, as of a shared directory", async () => {
  await using site = await SharingSite.open();
  for (const path of ["d/ten.txt", "d/"]) {
    const before = site.site.daemon.sessions.length;
    const id = await site.share(path);
    const checked = site.site.daemon.sessions.length;
    assert.equal(checked, before + 1, "one checks the path");
    const link = `access/HPC/${id}${path === "d/" ? "/ten.txt" : ""}`;
    for (let i = 0; i < 10; i++) {
      assert.equal(await (await site.ask("anonymous", "GET", link)).text(), "0123456789");
    }
    assert.equal(site.site.daemon.sessions.length, checked + 1, path);
  }
});

Deno.test("download() of a one-time share succeeds for exactly one of 200 parallel clients (D10)", async () => {
  // With shorter timeouts, the service could cut off a client that reads slowly on a busy machine.
  await using site = await SharingSite.open({}, { dataIdleMs: 60_000, clientIdleMs: 60_000 });
  const id = await site.share("d/ten.txt", { onetime: true });
  const answers = await Promise.all(Array.from({ length: 200 }, async () => {
    const response = await site.ask("anonymous", "GET", `access/HPC/${id}`);
    return `${response.status} ${(await response.text()).slice(0, 10)}`;
  }));
  assert.equal(answers.filter((answer) => answer === "200 0123456789").length, 1);
  assert.equal(answers.filter((answer) => answer.startsWith("404 ")).length, 199);
  assert.equal(site.site.daemon.sessions.length, 2, "one for the check, one for the download");
});

Deno.test("download() of a one-time share continues for the same browser, ranges and broken downloads", async () => {
  await using site = await SharingSite.open();
  const ask = async (id: string, headers: Record<string, string>, who: "anonymous" | "bob" = "anonymous") => {
    const response = await site.ask(who, "GET", `access/HPC/${id}?download`, { headers });
    const text = await response.text().catch(() => "broken");
    const [cookie = ""] = (response.headers.get("Set-Cookie") ?? "").split(";");
    return { status: response.status, text, cookie };
  };
  const browser = await site.share("d/ten.txt", { onetime: true });
  const { cookie, text } = await ask(browser, { Accept: "text/html" });
  assert.equal(text, "0123456789");
  assert.match(cookie, /^__Host-authserver-use-\w+=[\w-]{22}$/);
  assert.equal((await ask(browser, {})).status, 404);
  assert.equal((await ask(browser, { Cookie: cookie })).text, "0123456789");
  assert.equal((await ask(browser, { Cookie: `${cookie}x` })).status, 404);
  assert.equal((await ask(browser, { Cookie: cookie }, "bob")).status, 404);

  const ranges = await site.share("d/ten.txt", { onetime: true });
  const parts = await Promise.all(["0-4", "5-9"].map((range) => ask(ranges, { Range: `bytes=${range}` })));
  assert.deepEqual(parts.map(({ status, text }) => [status, text]), [[206, "01234"], [206, "56789"]]);
  assert.equal((await ask(ranges, {})).status, 404);

  await Deno.copyFile(`${site.root}/d/ten.txt`, `${site.root}/d/new.txt`); // no session for it is kept
  const broken = await site.share("d/new.txt", { onetime: true });
  site.site.daemon.sessionFaults.queue.push({ kind: "cut-data", after: 3, then: "226" });
  assert.equal((await ask(broken, {})).text, "broken");
  assert.equal((await ask(broken, {})).text, "0123456789");
  assert.equal((await ask(broken, {})).status, 404);

  site.time.ahead += 3_600_001;
  assert.equal((await ask(browser, { Cookie: cookie })).status, 404);
});

Deno.test("download() returns the use of a one-time share when the daemon sent nothing", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/ten.txt", { onetime: true });
  site.site.daemon.sessionFaults.queue.push(
    { kind: "close-after-login" },
    { kind: "close-at-once" },
    { kind: "silent-data" },
    { kind: "reply", to: "RETR", reply: "550 not readable" },
  );
  assert.equal((await site.ask("anonymous", "GET", `access/HPC/${id}`)).status, 404);
  assert.equal((await site.ask("anonymous", "GET", `access/HPC/${id}`)).status, 502);
  assert.equal((await site.ask("anonymous", "GET", `access/HPC/${id}`)).status, 504);
  assert.equal((await site.ask("anonymous", "GET", `access/HPC/${id}`)).status, 403);
  assert.equal(await (await site.ask("anonymous", "GET", `access/HPC/${id}`)).text(), "0123456789");
});

Deno.test("download() counts a use whose data was cut, and shows the owner that it was", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/ten.txt");
  site.site.daemon.sessionFaults.queue.push({ kind: "cut-data", after: 3, then: "226" });
  const response = await site.ask("anonymous", "GET", `access/HPC/${id}`);
  assert.equal(response.status, 200);
  await assert.rejects(response.text());
  await (await site.ask("bob", "GET", `access/HPC/${id}`)).text();
  await new Promise((resolve) => setTimeout(resolve, 10));
  const read = await (await site.ask("alice", "GET", `share/HPC/${id}`)).json();
  assert.equal(read.share.accessCount, 2);
  const uses = read.share.uses.map(({ time, ...rest }: { time: string }) => {
    assert.ok(Math.abs(Date.parse(time) - Date.now()) < 60_000);
    return rest;
  });
  const common = { client: "127.0.0.1", via: "HTTP-download", path: `${site.root}/d/ten.txt` };
  assert.deepEqual(uses, [
    { ...common, user: "cn=bob,o=example", bytes: 10, complete: true },
    { ...common, user: "cn=anonymous,o=unknown,ou=unknown", bytes: 3, complete: false },
  ]);
});

Deno.test("downloads of a share with any number of uses do not wait for each other", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/ten.txt");
  const { signal } = new AbortController();
  const release = await site.parts.uploads.locks.takeHere("HPC", `share ${id}`, signal);
  const response = await inTime(site.ask("anonymous", "GET", `access/HPC/${id}`), "an answer");
  assert.equal(await response.text(), "0123456789");
  release();
});

Deno.test("a download that waits for others of its share obeys terms that changed meanwhile", async () => {
  const changes: readonly (readonly [Record<string, unknown>, number])[] = [
    [{ password: "secret" }, 401],
    [{ sources: ["192.0.2.0/24"] }, 403],
    [{ note: "other" }, 200],
  ];
  for (const [change, status] of changes) {
    await using site = await SharingSite.open();
    const id = await site.share("d/ten.txt", { maxUses: 3 });
    const { locks } = site.parts.uploads;
    const { promise: waits, resolve } = Promise.withResolvers<void>();
    const endTurn = await locks.takeHere("HPC", `share ${id}`, new AbortController().signal);
    const takeHere = locks.takeHere.bind(locks);
    locks.takeHere = (...what) => {
      resolve();
      return takeHere(...what);
    };
    const download = site.ask("anonymous", "GET", `access/HPC/${id}`);
    await inTime(waits, "a download to wait");
    assert.equal((await site.ask("alice", "PUT", `share/HPC/${id}`, { body: change })).status, 200);
    endTurn();
    const response = await download;
    await response.text();
    assert.equal(response.status, status, JSON.stringify(change));
  }
});

Deno.test("download() shows nothing of a directory that replaced a shared file", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/ten.txt", { access: "MODIFY" });
  await Deno.remove(`${site.root}/d/ten.txt`);
  await Deno.mkdir(`${site.root}/d/ten.txt`);
  await Deno.writeTextFile(`${site.root}/d/ten.txt/secret`, "x");
  for (const query of ["", "?view=zip", "?view=preview", "?download"]) {
    for (const Accept of ["application/json", "text/html"]) {
      for (const method of ["GET", "HEAD"]) {
        const response = await site.ask("anonymous", method, `access/HPC/${id}${query}`, {
          headers: { Accept },
        });
        assert.doesNotMatch(await response.text(), /secret/);
        assert.equal(response.status, 404, `${method} ${query} ${Accept}`);
      }
    }
  }
});

Deno.test("download() of a share for uploads shows only its page", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/", { access: "DROP" });
  const status = async (path: string, Accept: string) => {
    const response = await site.ask("anonymous", "GET", `access/HPC/${path}`, { headers: { Accept } });
    await response.body?.cancel();
    return response.status;
  };
  assert.equal(await status(id, "text/html"), 200);
  assert.equal(await status(`${id}/ten.txt`, "text/html"), 404);
  assert.equal(await status(`${id}/ten.txt`, "*/*"), 403);
});

Deno.test("download() of an empty file is empty, and asks the daemon for nothing", async () => {
  await using site = await SharingSite.open();
  await Deno.writeTextFile(`${site.root}/d/empty`, "");
  const id = await site.share("d/empty");
  site.site.daemon.sessionFaults.queue.push({ kind: "reply", to: "RETR", reply: "550 not readable" });
  const response = await site.ask("anonymous", "GET", `access/HPC/${id}`);
  assert.deepEqual([response.status, response.headers.get("Content-Length"), await response.text()], [
    200,
    "0",
    "",
  ]);
});

const REFUSALS: [string, (site: SharingSite) => Promise<Response>, number, string][] = [
  ["an unknown server", (site) => site.ask("alice", "GET", "access/NONE/x"), 404, "ERR_UNKNOWN_SERVER"],
  ["an unknown instance", (site) => site.ask("alice", "GET", "access/HPC-2/x"), 404, "ERR_UNKNOWN_SERVER"],
  ["an instance 0", (site) => site.ask("alice", "GET", "access/HPC-0/x"), 404, "ERR_UNKNOWN_SERVER"],
  ["an unknown id", (site) => site.ask("alice", "GET", "access/HPC/x"), 404, "ERR_SHARE_NOT_FOUND"],
  ["an invalid id", (site) => site.ask("alice", "GET", "access/HPC/x%00"), 404, "ERR_SHARE_NOT_FOUND"],
  [
    "an expired share",
    async (site) => {
      const id = await site.share("d/", { lifetime: 5 });
      site.time.ahead = 10_000;
      return await site.ask("alice", "GET", `access/HPC/${id}`);
    },
    404,
    "ERR_SHARE_NOT_FOUND",
  ],
  [
    "another user's share without credentials",
    async (site) =>
      site.ask("anonymous", "GET", `access/HPC/${await site.share("d/", { user: "CN=bob,O=Example" })}`),
    401,
    "ERR_UNAUTHENTICATED",
  ],
  [
    "the caller's own share that is for another user",
    async (site) =>
      site.ask("alice", "GET", `access/HPC/${await site.share("d/", { user: "CN=bob,O=Example" })}`),
    403,
    "ERR_NOT_PERMITTED",
  ],
  [
    "a share from an address that is not listed",
    async (site) =>
      site.ask("alice", "GET", `access/HPC/${await site.share("d/", { sources: "192.0.2.0/24, ::1" })}`, {
        clientAddress: "192.0.3.1",
      }),
    403,
    "ERR_NOT_PERMITTED",
  ],
  [
    "a path below a file",
    async (site) => site.ask("alice", "GET", `access/HPC/${await site.share("d/ten.txt")}/x`),
    404,
    "ERR_NOT_FOUND",
  ],
  [
    "a slash after a file",
    async (site) => site.ask("alice", "GET", `access/HPC/${await site.share("d/ten.txt")}/`),
    404,
    "ERR_NOT_FOUND",
  ],
  [
    "a slash after a file in a directory",
    async (site) => site.ask("alice", "GET", `access/HPC/${await site.share("d/")}/ten.txt/`),
    404,
    "ERR_NOT_FOUND",
  ],
  [
    "a missing file",
    async (site) => site.ask("alice", "GET", `access/HPC/${await site.share("d/")}/none`),
    404,
    "ERR_NOT_FOUND",
  ],
  [
    "a file in a missing directory",
    async (site) => site.ask("alice", "GET", `access/HPC/${await site.share("d/")}/none/none`),
    404,
    "ERR_NOT_FOUND",
  ],
  [
    "a path that the owner may no longer reach (D20)",
    async (site) => {
      const id = await site.share("d/");
      site.limits = { excludes: `${site.root}/d/ten.txt` };
      return await site.ask("alice", "GET", `access/HPC/${id}/ten.txt`);
    },
    404,
    "ERR_NOT_FOUND",
  ],
];

for (const [what, ask, status, code] of REFUSALS) {
  Deno.test(`download() refuses ${what}`, async () => {
    await using site = await SharingSite.open();
    const response = await ask(site);
    const body = await response.json();
    assert.deepEqual([response.status, body.status, body.code], [status, status, code]);
    assert.ok(!JSON.stringify(body).includes(site.root));
  });
}

Deno.test("download() serves the share's user, from its addresses, on the named instance", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/ten.txt", { user: "cn=BOB , o=example", sources: ["127.0.0.0/8"] });
  assert.equal(await (await site.ask("bob", "GET", `access/HPC-1/${id}`)).text(), "0123456789");
});

Deno.test("download() refuses pipes and devices without opening them", async () => {
  await using site = await SharingSite.open();
  await new Deno.Command("mkfifo", { args: [`${site.root}/d/pipe`] }).output();
  const id = await site.share("d/");
  const response = await site.ask("anonymous", "GET", `access/HPC/${id}/pipe`);
  assert.equal(response.status, 404);
  await response.text();
  const commands = site.site.daemon.sessions.flatMap((session) => session.commands);
  assert.ok(!commands.some((command) => command.startsWith("RETR")));
});

Deno.test("download() lists a directory as page and as JSON, without what the owner may not reach", async () => {
  await using site = await SharingSite.open();
  await Deno.writeTextFile(`${site.root}/d/<b>&"'.txt`, "x");
  await Deno.writeTextFile(`${site.root}/d/file10`, "x");
  await Deno.writeTextFile(`${site.root}/d/file9`, "x");
  await Deno.writeTextFile(`${site.root}/d/hidden.key`, "x");
  site.limits = { excludes: "*.key" };
  const id = await site.share("d/");
  const page = await site.ask("anonymous", "GET", `access/HPC/${id}`, {
    headers: { Accept: "text/html,*/*" },
  });
  assert.equal(page.headers.get("Content-Type"), "text/html; charset=utf-8");
  assert.match(page.headers.get("Content-Security-Policy") ?? "", /^default-src 'none'/);
  const html = await page.text();
  assert.ok(!html.includes("<b>"));
  const link = `https://auth.example.org:9000/rest/access/HPC/${id}/%3Cb%3E%26%22&#39;.txt`;
  assert.ok(html.includes(link), html);
  const headers = { Accept: "application/json" };
  const json = await (await site.ask("anonymous", "GET", `access/HPC/${id}/`, { headers })).json();
  assert.deepEqual(
    json.entries.map(({ name }: { name: string }) => name),
    ["sub", "<b>&\"'.txt", "file9", "file10", "ten.txt"],
  );
  assert.equal(json.parent, undefined);
  const sub = await (await site.ask("anonymous", "GET", `access/HPC/${id}/sub`, { headers })).json();
  assert.equal(sub.path, "sub/");
  assert.equal(sub.parent, `https://auth.example.org:9000/rest/access/HPC/${id}/`);
  assert.equal(sub.entries[0].href, `https://auth.example.org:9000/rest/access/HPC/${id}/sub/x.dat`);
  assert.equal(sub.entries[0].size, 1);
});

Deno.test("download() closes every connection and session, also when the client leaves", async () => {
  await using site = await SharingSite.open();
  const file = await Deno.open(`${site.root}/d/big`, { create: true, write: true });
  await file.truncate(50_000_000);
  file.close();
  const id = await site.share("d/big");
  const controller = new AbortController();
  const response = await site.ask("anonymous", "GET", `access/HPC/${id}`, { signal: controller.signal });
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  const other = await site.ask("anonymous", "GET", `access/HPC/${id}`, { signal: controller.signal });
  controller.abort(new Error("gone"));
  await assert.rejects(other.arrayBuffer());
  await site.site.allClosed();
});

/** Returns lines of a daemon's listing. */
function listingLines(names: readonly string[]): string[] {
  return names.map((name) =>
    `size=1;modify=20260304050607;type=${name.endsWith("/") ? "dir" : "file"};perm=r;UNIX.mode=${
      name.endsWith("/") ? "40755" : "100644"
    }; ${name.replace(/\/$/, "")}`
  );
}

Deno.test("download() lists a long directory completely, in parts, as page and as JSON", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/sub/");
  const names = Array.from({ length: 11_000 }, (_, i) => `${"n".repeat(200)}${i}`).toReversed();
  site.site.daemon.sessionFaults.always = {
    kind: "injected-directory",
    lines: listingLines(["z/", ...names]),
  };
  const found: string[] = [];
  let next: string | undefined = `access/HPC/${id}`;
  let parts = 0;
  while (next !== undefined) {
    const headers = { Accept: "application/json" };
    const response: Response = await site.ask("anonymous", "GET", next, { headers });
    assert.equal(response.headers.get("Content-Length"), null, "sent as it is read");
    const listing = await response.json();
    assert.ok(listing.entries.length <= 5000);
    found.push(...listing.entries.map(({ name }: { name: string }) => name));
    assert.equal(listing.complete, listing.next === undefined);
    assert.equal(
      response.headers.get("Link"),
      listing.next === undefined ? null : `<${listing.next}>; rel="next"`,
    );
    next = listing.next?.replace(`${BASE}/rest/`, "");
    parts++;
  }
  assert.equal(parts, 3);
  assert.deepEqual(found, ["z", ...names.toReversed(), "x.dat"]);
  const page = await (await site.ask("anonymous", "GET", `access/HPC/${id}`)).text();
  assert.equal(page.match(/<tr><td>/g)?.length, 1000);
  const link = /<a rel="next" href="https:\/\/auth\.example\.org:9000\/rest\/([^"]+)">/.exec(page)?.[1] ?? "";
  const second = await (await site.ask("anonymous", "GET", link)).text();
  assert.equal(second.match(/<tr><td>/g)?.length, 1000);
  const bad = await site.ask("anonymous", "GET", `access/HPC/${id}?after=a&after=b`);
  assert.equal(bad.status, 400);
  await bad.text();
});

Deno.test("download() reports how many entries of a directory it cannot show", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/sub/");
  const lines = [
    ...listingLines(["with\ttab", "and\u0085next"]),
    "no line of a listing",
    "size=1;type=file;perm=r;UNIX.mode=20666; tty",
    ...listingLines(["n".repeat(1025)]),
    `size=1;type=file;perm=r;${"x=y;".repeat(1500)} lengthy`,
  ];
  site.site.daemon.sessionFaults.always = { kind: "injected-directory", lines };
  const headers = { Accept: "application/json" };
  const listing = await (await site.ask("anonymous", "GET", `access/HPC/${id}`, { headers })).json();
  assert.equal(listing.omitted, 6);
  assert.deepEqual(listing.entries.map(({ name }: { name: string }) => name), ["x.dat"]);
  const page = await (await site.ask("anonymous", "GET", `access/HPC/${id}`)).text();
  assert.match(page, /1 entry; 6 in this directory cannot be shown/);
});

Deno.test("download() stops reading a daemon's endless listing", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/sub/", { onetime: true });
  site.site.daemon.sessionFaults.queue.push({ kind: "injected-directory", lines: ["x".repeat(200_000)] });
  const response = await site.ask("anonymous", "GET", `access/HPC/${id}`);
  assert.deepEqual([response.status, (await response.json()).code], [502, "ERR_DAEMON_SESSION"]);
  assert.equal((await site.ask("anonymous", "GET", `access/HPC/${id}`)).status, 200);
});

Deno.test("download() of a listing that is not read to its end takes no use and frees its memory", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/sub/");
  const names = Array.from({ length: 3000 }, (_, i) => `file ${i}`);
  site.site.daemon.sessionFaults.always = { kind: "injected-directory", lines: listingLines(names) };
  const response = await site.ask("anonymous", "GET", `access/HPC/${id}`);
  const reader = response.body?.getReader();
  const { value } = await reader?.read() ?? {};
  assert.ok(value);
  assert.ok(site.parts.unread.bytes > 0);
  await reader?.cancel();
  assert.equal(site.parts.unread.bytes, 0);
  const { share } = await (await site.ask("alice", "GET", `share/HPC/${id}`)).json();
  assert.deepEqual([share.accessCount, share.uses[0].via], [0, "HTTP-look"]);
});
