/** Tests that a share has the same rate limit and account by HTTP and UFTP, for all users. */
import assert from "node:assert/strict";
import { SharingSite, type Who } from "../sharing_site.ts";

interface Row {
  readonly who: Who;
  readonly own?: string;
  readonly account?: string;
  /** Returns the limit of an account, or without `uid` of everybody else. */
  readonly reservation: (uid: string | undefined) => number;
  readonly expected: string;
}

const ROWS: readonly Row[] = [
  { who: "anonymous", reservation: () => 0, expected: "0" },
  { who: "anonymous", reservation: () => 1000, expected: "1000" },
  { who: "bob", reservation: (uid) => uid === undefined ? 1000 : 0, expected: "1000" },
  { who: "bob", own: "1M", reservation: () => 0, expected: "1048576" },
  { who: "bob", own: "1M", reservation: (uid) => uid === undefined ? 1000 : 0, expected: "1000" },
  { who: "carol", reservation: (uid) => uid === "carol" ? 0 : 1000, expected: "0" },
  { who: "bob", account: "root", reservation: (uid) => uid === undefined ? 1000 : 0, expected: "1000" },
  { who: "carol", reservation: () => 2000, expected: "2000" },
  { who: "alice", own: "500", reservation: () => 0, expected: "500" },
  { who: "alice", own: "500", reservation: () => 2000, expected: "500" },
  { who: "alice", own: "5000", reservation: () => 2000, expected: "2000" },
];

for (const { who, own, account, reservation, expected } of ROWS) {
  const what = `${who} as ${account ?? who}, limit ${own ?? "none"}, reservation ${reservation(who)} or ${
    reservation(undefined)
  }`;
  Deno.test(`a session for a share has one rate limit and account, whoever opens it: ${what}`, async () => {
    await using site = await SharingSite.open();
    const server = site.parts.servers.get("HPC");
    assert.ok(server !== undefined);
    const reservations = { ...server.reservations, limitFor: reservation };
    site.parts = { ...site.parts, servers: new Map([["HPC", { ...server, reservations }]]) };
    if (own !== undefined) site.attributes = { rateLimit: own };
    if (account !== undefined) site.attributes = { xlogin: account };
    site.attributed = who;
    const [id, drop] = [
      await site.share("d/", { access: "WRITE" }),
      await site.share("d/sub/", { access: "DROP" }),
    ];
    const ways: Record<string, () => Promise<Response>> = {
      uftp: () => site.ask(who, "POST", `access/HPC/${id}`, { body: { serverPath: `${site.root}/d/` } }),
      download: () => site.ask(who, "GET", `access/HPC/${id}/ten.txt`),
      archive: () => site.ask(who, "GET", `access/HPC/${id}/?view=zip`),
      listing: () => site.ask(who, "GET", `access/HPC/${id}/`),
      upload: () => site.ask(who, "PUT", `access/HPC/${id}/new`, { body: "x" }),
      drop: () =>
        site.ask(who, "PUT", `access/HPC/${drop}/new`, { body: "x", headers: { "Content-Length": "1" } }),
    };
    for (const [way, ask] of Object.entries(ways)) {
      const response = await ask();
      assert.ok(response.ok, `${way}: ${response.status}`);
      await response.text();
      const values = site.site.daemon.sessionRequests.at(-1);
      assert.deepEqual(
        [values?.get("user"), values?.get("group"), values?.get("rateLimit") ?? "0"],
        ["alice", "users", expected],
        way,
      );
    }
  });
}

for (const who of ["alice", "bob"] as const) {
  Deno.test(`a share opens no session for ${who} with an invalid rate limit`, async () => {
    await using site = await SharingSite.open();
    const id = await site.share("d/");
    site.attributes = { rateLimit: "abc" };
    site.attributed = who;
    const before = site.site.daemon.requests.length;
    const response = await site.ask(who, "GET", `access/HPC/${id}/ten.txt`);
    assert.equal(response.status, 500);
    await response.text();
    assert.equal(site.site.daemon.requests.slice(before).some(({ values }) => values?.has("secret")), false);
  });
}
