import assert from "node:assert/strict";
import { aboutShare } from "../../src/pages/about_share.ts";
import { statusPage } from "../../src/pages/status_page.ts";
import { AnswerCache } from "../../src/model/answer_cache.ts";
import { httpError } from "../../src/model/http_error.ts";
import type { Call } from "../../src/resource/call.ts";
import type { ServerFacts } from "../../src/resource/server_facts.ts";
import { EVERYBODY, groupTarget, type Share } from "../../src/sharing/share.ts";
import { call, FACTS, server, serversOf, USER } from "../resource/sample_call.ts";
import { withoutTimes, wordsOf } from "./words.ts";

const NOTHING = {
  sharing: undefined,
  sessions: new Map(),
  groups: new AnswerCache<boolean>({ clock: Date.now }),
} as const;

const STATES: readonly (readonly [readonly boolean[], string])[] = [
  [[true, true], "All transfer servers are up."],
  [[true, false], "Transfer servers up: 1 of 2."],
  [[false, false], "No transfer server is up."],
];
for (const [states, text] of STATES) {
  Deno.test(`statusPage() says "${text}" for ${states}, and shows which servers are up`, async () => {
    const servers = serversOf(...states.map((up, i) => server(`S${i}`, { up })));
    const page = String(
      (await statusPage(call(), {
        servers,
        facts: FACTS,
        ...NOTHING,
        hasDeviceLogin: false,
      })).body,
    );
    assert(page.includes(text));
    const shown = [...page.matchAll(/<p class="state (up|down)">(Up|Down)<\/p>/g)];
    assert.deepEqual(shown.map(([, style]) => style === "up"), states);
    assert.deepEqual(shown.map(([, , word]) => word === "Up"), states);
  });
}

Deno.test("statusPage() shows the user, the end of the login, and the allowed paths, one by one", async () => {
  const servers = serversOf(server("AA", { up: true }));
  const identity = { dn: "CN=Ann", method: "PASSWORD", via: "password" };
  const known: Call = {
    ...call(),
    caller: { kind: "authenticated", identity },
    user: {
      ...USER,
      role: "user",
      uid: "ann",
      group: "users",
      extra: new Map([["uftpd.AA.includes", ["/home/ann/*:/data/*"]]]),
    },
    signIn: {
      identity,
      userName: "ann",
      ends: Date.UTC(2026, 0, 5, 7, 30) / 1000,
      idleMinutes: 30,
      formToken: "t",
      active() {},
    },
  };
  const { body } = await statusPage(known, {
    servers,
    facts: FACTS,
    ...NOTHING,
    hasDeviceLogin: false,
  });
  const page = String(body);
  assert.match(page, /2026-01-05/);
  assert.match(page, /in 7 hours|in 8 hours|07:30/);
  assert.match(page, /<dd><code>\/home\/ann\/\*<\/code>, <code>\/data\/\*<\/code><\/dd>/);
});

const NOW = FACTS.clock();

/** Returns the words of the page; by default for an anonymous visitor. */
async function words(
  { known = {}, servers = [server("AA", { up: true })], ...parts }: {
    readonly known?: Partial<Call>;
    readonly servers?: readonly ServerFacts[];
  } & Partial<Omit<Parameters<typeof statusPage>[1], "servers">>,
): Promise<string[]> {
  const { body } = await statusPage({ ...call(), ...known }, {
    servers: serversOf(...servers),
    facts: FACTS,
    ...NOTHING,
    hasDeviceLogin: false,
    ...parts,
  });
  return withoutTimes(wordsOf(String(body)));
}

Deno.test("statusPage() shows anonymous visitors which servers are up, and how to sign in if they can", async () => {
  const aa = ["AA", "Up", "Server AA"];
  assert.deepEqual(await words({}), [
    "Site: UFTP file transfer",
    "All transfer servers are up.",
    ...aa,
    "As of TIME",
  ]);
  assert.deepEqual(await words({ known: { menu: new Set(["/", "/login", "/shares", "/help"]) } }), [
    "Servers",
    "Help",
    "Sign in",
    "Site: UFTP file transfer",
    "All transfer servers are up.",
    ...aa,
    "As of TIME",
  ]);
  assert.deepEqual(await words({ servers: [] }), [
    "Site: UFTP file transfer",
    "No transfer server is configured.",
    "As of TIME",
  ]);
});

const IDENTITY = { dn: "CN=Ann Example", method: "SSHKEY", via: "SSHKEY" };
const ANN: Partial<Call> = {
  caller: { kind: "authenticated", identity: IDENTITY },
  user: { ...USER, role: "user", uid: "ann", group: "users", availableGroups: ["users", "hpc"] },
};

Deno.test("statusPage() shows a known caller their account on each server, and the commands to use it", async () => {
  const aa = server("AA", { up: true });
  const status = { ...aa.daemons.status(), version: "3.5.3", sessionLimit: 8 };
  const night = { from: NOW - 3_600_000, to: NOW + 7_200_000, rateLimit: 1024 ** 2, limitText: "1m" };
  const reservations = {
    ...aa.reservations,
    limitFor: () => 10 * 1024 ** 2,
    list: () => [
      { ...night, name: "night", uids: ["ann", "bob"] },
      { ...night, name: "others", uids: ["bob"] },
    ],
  };
  const full = { ...aa, daemons: { ...aa.daemons, status: () => status }, reservations };
  const extra = new Map([["uftpd.AA.includes", ["/data/*:"]], ["uftpd.AA.excludes", ["/data/x:/tmp"]]]);
  const known = { ...ANN, user: { ...USER, ...ANN.user, extra }, userName: "ann" };
  const facts = {
    ...FACTS,
    upSince: NOW - 86_400_000,
    cluster: () => ({ instances: { serving: 1, total: 2 }, configurationsDiffer: true, degraded: true }),
  };
  assert.deepEqual(await words({ known, facts, servers: [full] }), [
    "Signed in as ann",
    "Site: UFTP file transfer",
    "All transfer servers are up.",
    "You",
    "Name",
    "CN=Ann Example",
    "Role",
    "user",
    "Account",
    "ann",
    "Groups",
    "users, hpc",
    "Signed in with",
    "SSH key",
    "Close the browser to sign out.",
    "AA",
    "Up",
    "Server AA",
    "Daemons",
    "2 of 2 up",
    "Account",
    "ann",
    "Group",
    "users",
    "Groups",
    "users, hpc",
    "Speed limit",
    "10 MiB/s",
    "Allowed paths",
    "/data/*",
    "Forbidden paths",
    "/data/x, /tmp",
    "Concurrent sessions",
    "8",
    "Daemon version",
    "3.5.3",
    "Reservations",
    "night: from TIME (1 hour ago) to TIME (in 2 hours), everyone else at most 1 MiB/s",
    "Commands",
    "Get a file",
    "Copy",
    "pyuftp cp -u ann -P https://h/rest/auth/AA:./file.dat .",
    "Put a file",
    "Copy",
    "pyuftp cp -u ann -P file.dat https://h/rest/auth/AA:./",
    "More commands",
    "List your home directory",
    "Copy",
    "pyuftp ls -u ann -P https://h/rest/auth/AA:./",
    "Get address and one-time password for another client",
    "Copy",
    "pyuftp auth -u ann -P https://h/rest/auth/AA:./",
    "authserver 1.2.3, up since TIME (yesterday)",
    "Instances running: 1 of 2. Their configurations differ. Shares and new certificates are not available: the database does not answer.",
    "As of TIME",
  ]);
});

Deno.test("statusPage() does not count a single daemon, and shows no commands without a running server or account", async () => {
  const aa = server("AA", { up: true });
  const single = {
    ...aa,
    daemons: { ...aa.daemons, status: () => ({ ...aa.daemons.status(), total: 1, available: 1 }) },
  };
  const alone = await words({ known: ANN, servers: [single] });
  assert.ok(!alone.includes("Daemons"));
  assert.ok(alone.includes("Commands"));
  assert.ok(
    !alone.some((line) => /instances|Reservations|Speed limit|Allowed|Forbidden/.test(line)),
    String(alone),
  );
  assert.ok(!(await words({ known: ANN, servers: [server("AA", { up: false })] })).includes("Commands"));
  const stranger = await words({ known: { ...ANN, user: { ...USER, role: "user" } } });
  assert.deepEqual(stranger.slice(stranger.indexOf("Account"), stranger.indexOf("Account") + 2), [
    "Account",
    "none",
  ]);
  assert.ok(!stranger.includes("Commands"));
});

const SHARE: Share = {
  id: "1",
  server: "AA",
  owner: "CN=Ann Example",
  target: EVERYBODY,
  uid: "ann",
  path: "/data/d/",
  access: "READ",
  expires: 0,
  oneTime: false,
  sources: [],
  accessCount: 0,
  created: 0,
};

/** Returns a store that finds these shares for any request. */
const sharesFound = (own: readonly Share[], accessible: readonly Share[]) => ({
  clock: FACTS.clock,
  store: {
    ownedBy: () => Promise.resolve(own),
    targetedAt: () => Promise.resolve(accessible),
  },
});

const SHARING_SERVERS = [server("AA", { up: false, sharing: true })];

Deno.test("statusPage() lists a user's own shares with their targets, and accessible shares with their owners", async () => {
  const sharing = sharesFound(
    [SHARE, { ...SHARE, path: "/f", access: "WRITE", target: "CN=Bob" }, {
      ...SHARE,
      target: groupTarget("hpc"),
    }],
    [{ ...SHARE, access: "DROP", owner: "CN=Eve" }],
  );
  const shown = await words({ known: ANN, servers: SHARING_SERVERS, sharing });
  assert.deepEqual(shown.slice(shown.indexOf("Your shares"), -2), [
    "Your shares",
    "/data/d/, read, for everyone",
    "/f, read and add files; programs may also replace files, for Bob",
    "/data/d/, read, for members of the group hpc",
    "Shared with you",
    "/data/d/, upload only, by Eve",
  ]);
  const elsewhere = await words({ known: ANN, sharing });
  assert.ok(!elsewhere.includes("Your shares"), "a server without shares has none");
  assert.ok(!(await words({ servers: SHARING_SERVERS, sharing })).includes("Your shares"));
});

Deno.test("statusPage() lists a hundred shares, and links to the others", async () => {
  const many = (count: number) => sharesFound(Array.from({ length: count }, () => SHARE), []);
  const listed = async (count: number) => {
    const shown = await words({ known: ANN, servers: SHARING_SERVERS, sharing: many(count) });
    return shown.slice(shown.indexOf("Your shares") + 1, -2);
  };
  assert.equal((await listed(100)).length, 100);
  const more = await listed(101);
  assert.equal(more.length, 101);
  assert.equal(more.at(-1), "and more: all shares");
});

Deno.test("statusPage() reports a group that the daemon refuses, and asks once", async () => {
  const servers = serversOf(server("AA", { up: true }));
  const identity = { dn: "CN=Ann", method: "PASSWORD", via: "password" };
  const known: Call = {
    ...call(),
    caller: { kind: "authenticated", identity },
    user: { ...USER, role: "user", uid: "ann", group: "ghosts" },
  };
  const page = async (failure: string, caller = known) => {
    let asked = 0;
    const open = ({ group }: { readonly group?: string }) => {
      asked++;
      if (group !== (caller === known ? "ghosts" : "users:ghosts")) return Promise.reject(new Error(group));
      return Promise.reject(httpError("ERR_DAEMON_SESSION", failure));
    };
    const groups = new AnswerCache<boolean>({ clock: Date.now });
    const parts = { ...NOTHING, servers, facts: FACTS, hasDeviceLogin: false, groups };
    const asks = { ...parts, sessions: new Map([["AA", { open }]]) };
    await statusPage(caller, asks);
    return { text: String((await statusPage(caller, asks)).body), asked: () => asked };
  };
  const refused = await page(
    "530 Not logged in: Attempt to run a task with an unknown primary group: ghosts",
  );
  assert.match(refused.text, /Group not usable on this server \(contact the operators\)<\/dt><dd>ghosts</);
  assert.equal(refused.asked(), 1);
  const extra = new Map([["uftpd.AA.group", ["users:ghosts"]]]);
  const further = await page(
    "530 Not logged in: Attempt to run a task with an unknown supplementary group ghosts",
    { ...known, user: { ...known.user, extra } },
  );
  assert.match(
    further.text,
    /Group not usable on this server \(contact the operators\)<\/dt><dd>users:ghosts</,
  );
  const down = await page("421 going down");
  assert.doesNotMatch(down.text, /refuses/);
  assert.equal(down.asked(), 1, "a daemon that does not tell is left alone for a while");
});

Deno.test("aboutShare() shows a display name before the name that the login proved, not instead", () => {
  const shown = (owner: string, ownerName?: string) =>
    wordsOf(String(aboutShare({ owner, ownerName, expires: 0 }, 0))).join(" ");
  assert.equal(shown("CN=4e19,O=https://idp"), "Shared by 4e19");
  assert.equal(shown("CN=4e19,O=https://idp", "The Administrator"), "Shared by The Administrator (4e19)");
  assert.equal(shown("CN=Ann,O=Site", "Ann"), "Shared by Ann");
});
