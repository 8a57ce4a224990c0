/** Attacks on WebDAV by an attacker who has read the code. */
import assert from "node:assert/strict";
import { canonicalDn } from "../../../src/model/distinguished_name.ts";
import { DavSite, lockinfo, type Question } from "./dav_site.ts";

Deno.test("WebDAV refuses paths that could lead elsewhere, in the address and as a destination", async () => {
  await using dav = await DavSite.open();
  const segments = [
    "..%2fcanary",
    "%2e%2e",
    "a%2Fb",
    "%00",
    "x%0a",
    "x%0d%0aDELE y",
    "%e2%80%a8",
    "%c3%28",
    "%",
  ];
  for (const segment of segments) {
    for (const method of ["GET", "PUT", "DELETE", "MKCOL", "PROPFIND", "LOCK"]) {
      const body = method === "LOCK" ? lockinfo() : undefined;
      const told = await dav.told(method, `d/${segment}`, { headers: { Depth: "0" }, body });
      assert.match(told, /^404/, `${method} ${segment}: ${told}`);
    }
    const headers = { Destination: `/dav/HPC${dav.root}/d/${segment}` };
    assert.match(await dav.told("COPY", "d/ten.txt", { headers }), /^(?:40[04]|201)/, segment);
  }
  const long = "x".repeat(3000);
  assert.match(await dav.told("PUT", `d/${long}`, { body: "x" }), /^400 ERR_INVALID_PATH/);
  assert.equal(await Deno.readTextFile(dav.site.canary), "CANARY");
});

const DESTINATIONS: [string, string][] = [
  ["https://evil.example/dav/HPC/tmp/x", "502 ERR_OTHER_SERVER"],
  ["https://h@evil.example/dav/HPC/tmp/x", "502 ERR_OTHER_SERVER"],
  ["https://h:444/dav/HPC/tmp/x", "502 ERR_OTHER_SERVER"],
  ["/dav/OTHER/tmp/x", "502 ERR_OTHER_SERVER"],
  ["/rest/share/HPC/tmp/x", "502 ERR_OTHER_SERVER"],
  ["/dav/", "502 ERR_OTHER_SERVER"],
  ["/dav/HPC/tmp/../etc/x", "400 ERR_INVALID_REQUEST"],
  ["/dav/HPC//tmp/x", "400 ERR_INVALID_REQUEST"],
  ["/dav/HPC/tmp\\x", "400 ERR_INVALID_REQUEST"],
  ["/dav/HPC/tmp/x?y", "400 ERR_INVALID_REQUEST"],
  ["file:///dav/HPC/tmp/x", "400 ERR_INVALID_REQUEST"],
  ["", "400 ERR_INVALID_REQUEST"],
];

Deno.test("WebDAV copies and moves only to its own server", async () => {
  await using dav = await DavSite.open();
  for (const [Destination, expected] of DESTINATIONS) {
    for (const method of ["COPY", "MOVE"]) {
      assert.equal(await dav.told(method, "d/ten.txt", { headers: { Destination } }), expected, Destination);
    }
  }
  assert.equal(await Deno.readTextFile(`${dav.root}/d/ten.txt`), "0123456789");
});

Deno.test("WebDAV keeps a narrowed token to its directory, in source, destination and If header", async () => {
  await using dav = await DavSite.open();
  const { root } = dav;
  const destination = (path: string) => ({ Destination: `/dav/HPC${root}/${path}` });
  const inside: Question = { restrictions: { paths: [`${root}/d/`] } };
  for (const method of ["GET", "PUT", "DELETE", "MKCOL", "PROPFIND", "PROPPATCH", "UNLOCK"]) {
    const question = { ...inside, headers: { Depth: "0", "Lock-Token": "<x>" } };
    assert.equal(await dav.told(method, "d2/canary", question), "403 ERR_TOKEN_RESTRICTIONS", method);
    assert.equal(await dav.told(method, "/dav/HPC/", question), "403 ERR_TOKEN_RESTRICTIONS", method);
  }
  for (const method of ["COPY", "MOVE"]) {
    for (const [from, to] of [["d/ten.txt", "d2/x"], ["d2/canary", "d/x"], ["d", "d2"]] as const) {
      const told = await dav.told(method, from, { ...inside, headers: destination(to) });
      assert.match(told, /^403/, `${method} ${from} ${to}`);
    }
  }
  const tag = { If: `<https://h/dav/HPC${root}/d2/canary> (["x"])` };
  assert.equal(
    await dav.told("PUT", "d/new", { ...inside, headers: tag, body: "x" }),
    "412 ERR_PRECONDITION_FAILED",
  );
  const ofOthers = { restrictions: { servers: ["OTHER"] } };
  assert.equal(await dav.told("GET", "d/ten.txt", ofOthers), "403 ERR_TOKEN_RESTRICTIONS");
  assert.doesNotMatch(await dav.told("PROPFIND", "/dav", { ...ofOthers, headers: { Depth: "1" } }), /HPC/);
});

Deno.test("WebDAV changes nothing with a token for reading, nor beyond a capability", async () => {
  await using dav = await DavSite.open();
  const { root } = dav;
  const readers: Question[] = [
    { restrictions: { activity: "read" } },
    { capabilities: [{ path: `${root}/`, access: "read" }] },
  ];
  const headers = { Destination: `/dav/HPC${root}/d/other`, Depth: "infinity" };
  for (const who of readers) {
    const asked = { ...who, headers };
    assert.equal(await dav.told("GET", "d/ten.txt", who), "200 0123456789");
    assert.match(await dav.told("PUT", "d/ten.txt", { ...who, body: "x" }), /^403/);
    assert.match(await dav.told("PUT", "d/new", { ...who, body: "x" }), /^403/);
    for (const method of ["DELETE", "COPY", "MOVE"]) {
      assert.match(await dav.told(method, "d/ten.txt", asked), /^403/);
    }
    assert.match(await dav.told("MKCOL", "d/new", who), /^403/);
    assert.match(await dav.told("LOCK", "d/ten.txt", { ...who, body: lockinfo() }), /^403/);
  }
  assert.deepEqual([...Deno.readDirSync(`${root}/d`)].map(({ name }) => name).sort(), ["sub", "ten.txt"]);
});

Deno.test("WebDAV deletes nothing with a token that may only write, not even by a replacement", async () => {
  await using dav = await DavSite.open();
  const { root } = dav;
  await Deno.mkdir(`${root}/d/empty`);
  const who: Question = { restrictions: { activity: "write" } };
  const to = (path: string) => ({ ...who, headers: { Destination: `/dav/HPC${root}/${path}` } });
  assert.equal(await dav.told("DELETE", "d/sub", who), "403 ERR_ACCESS_REFUSED");
  for (const method of ["COPY", "MOVE"]) {
    for (const [from, target] of [["d/empty", "d/sub"], ["d/ten.txt", "d/sub"], ["d/empty", "d/ten.txt"]]) {
      const told = await dav.told(method, from ?? "", to(target ?? ""));
      assert.equal(told, "403 ERR_ACCESS_REFUSED", `${method} ${from} ${target}`);
    }
  }
  assert.match(await dav.told("COPY", "d/sub", to("d/copy")), /^201/);
  assert.match(await dav.told("MOVE", "d/copy", to("d/moved")), /^201/);
  await Deno.remove(`${root}/d/moved`, { recursive: true });
  const left = [...Deno.readDirSync(`${root}/d`)].map(({ name }) => name).sort();
  assert.deepEqual(left, ["empty", "sub", "ten.txt"]);
});

Deno.test("WebDAV changes no locks with a token that may not write the locked files", async () => {
  await using dav = await DavSite.open();
  const { root } = dav;
  const lockOf = async (path: string) =>
    (await dav.ask("LOCK", path, { body: lockinfo() })).headers.get("Lock-Token") ?? "";
  const [ofFile, ofDirectory] = [await lockOf("d/ten.txt"), await lockOf("d/sub")];
  const narrowed: [Question, string, string, RegExp][] = [
    [{ restrictions: { activity: "read" } }, "d/ten.txt", ofFile, /^403 ERR_ACCESS_REFUSED/],
    [
      { capabilities: [{ path: `${root}/`, access: "read" }] },
      "d/ten.txt",
      ofFile,
      /^403 ERR_ACCESS_REFUSED/,
    ],
    [{ restrictions: { activity: "read" } }, "d/sub/x.dat", ofDirectory, /^403 ERR_ACCESS_REFUSED/],
    [
      { restrictions: { paths: [`${root}/d/sub/in/`] } },
      "d/sub/in/x",
      ofDirectory,
      /^403 ERR_TOKEN_RESTRICTIONS/,
    ],
  ];
  for (const [who, path, token, refused] of narrowed) {
    const message = `${JSON.stringify(who)} ${path}`;
    assert.match(
      await dav.told("UNLOCK", path, { ...who, headers: { "Lock-Token": token } }),
      refused,
      message,
    );
    assert.match(await dav.told("LOCK", path, { ...who, headers: { If: `(${token})` } }), refused, message);
  }
  for (const [path, token] of [["d/ten.txt", ofFile], ["d/sub", ofDirectory]] as const) {
    const writer: Question = { capabilities: [{ path: `${root}/d/`, access: "all" }] };
    assert.match(await dav.told("LOCK", path, { ...writer, headers: { If: `(${token})` } }), /^200/);
    assert.equal(await dav.told("UNLOCK", path, { ...writer, headers: { "Lock-Token": token } }), "204");
  }
});

Deno.test("WebDAV hides paths that limits forbid, also in moved directories", async () => {
  await using dav = await DavSite.open();
  const { root } = dav;
  const limits = { excludes: `${root}/d/sub/*` };
  const headers = { Depth: "1", Destination: `/dav/HPC${root}/free` };
  assert.equal(await dav.told("GET", "d/sub/x.dat", { limits }), "404 ERR_NOT_FOUND");
  assert.doesNotMatch(await dav.told("PROPFIND", "d", { limits, headers }), /sub/);
  for (const method of ["COPY", "MOVE"]) {
    const told = await dav.told(method, "d", { limits, headers: { ...headers, Depth: "infinity" } });
    assert.equal(told, "403 ERR_OUTSIDE_LIMITS", method);
  }
  assert.equal(await dav.told("DELETE", "d", { limits }), "403 ERR_OUTSIDE_LIMITS");
});

const entities = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]><propfind xmlns="DAV:"><prop>&a;</prop></propfind>';
const BODIES: [string, string][] = [
  [entities, "400 ERR_INVALID_REQUEST"],
  ["<propfind xmlns='DAV:'>" + "<x>".repeat(100), "400 ERR_INVALID_REQUEST"],
  [`<propfind xmlns="DAV:"><prop>${"<x/>".repeat(5000)}</prop></propfind>`, "400 ERR_INVALID_REQUEST"],
  [`<propfind xmlns="DAV:">${" ".repeat(70_000)}</propfind>`, "413 ERR_BODY_TOO_LARGE"],
  ["<D:propfind><D:prop/></D:propfind>", "400 ERR_INVALID_REQUEST"],
  ['<D:propfind xmlns:D="DAV:"><D:prop><y:x xmlns:y=""/></D:prop></D:propfind>', "400 ERR_INVALID_REQUEST"],
  ["nothing", "400 ERR_INVALID_REQUEST"],
  ["\xff", "400 ERR_INVALID_REQUEST"],
];

Deno.test("WebDAV refuses bodies with entities, too deep, or too long", async () => {
  await using dav = await DavSite.open();
  for (const [text, expected] of BODIES) {
    const body = Uint8Array.from(text, (character) => character.charCodeAt(0));
    for (const method of ["PROPFIND", "PROPPATCH", "LOCK"]) {
      assert.equal(
        await dav.told(method, "d/ten.txt", { headers: { Depth: "0" }, body }),
        expected,
        text.slice(0, 60),
      );
    }
  }
});

Deno.test("WebDAV escapes markup in names, namespaces and owners of locks", async () => {
  await using dav = await DavSite.open();
  await Deno.writeTextFile(`${dav.root}/d/<x>&"`, "");
  const owner = "<owner>&lt;/D:owner&gt;&lt;evil/&gt;</owner>";
  const told = await dav.told("LOCK", "d/ten.txt", { body: lockinfo().replace("<owner>me</owner>", owner) });
  const body =
    '<propfind xmlns="DAV:"><prop><displayname/><p xmlns="&quot;/&gt;&lt;evil/&gt;"/></prop></propfind>';
  const shown = await dav.told("PROPFIND", "d", { headers: { Depth: "1" }, body });
  assert.doesNotMatch(told + shown, /<evil|<x>/);
});

Deno.test("WebDAV refuses long or malformed If headers, and fails closed for unknown conditions", async () => {
  await using dav = await DavSite.open();
  const put = (If: string) => dav.told("PUT", "d/ten.txt", { headers: { If }, body: "x" });
  for (
    const wrong of [
      "x",
      "()",
      "(<a>",
      "(Not)",
      "(Not Not <a>)",
      "<a>",
      "(<a>))",
      '(["x)',
      `${"(<a>)".repeat(300)}`,
    ]
  ) {
    assert.equal(await put(wrong), "400 ERR_INVALID_REQUEST", wrong.slice(0, 40));
  }
  for (
    const unmet of ["(<opaquelocktoken:x>)", "(<DAV:no-lock>)", '(["x"])', "<https://evil.example/x> (<a>)"]
  ) {
    assert.equal(await put(unmet), "412 ERR_PRECONDITION_FAILED", unmet);
  }
  assert.equal(await put("(Not <DAV:no-lock>)"), "204");
});

Deno.test("WebDAV limits the locks of a user, and others can still lock", async () => {
  await using dav = await DavSite.open();
  for (let i = 0; i < 200; i++) {
    const made = await dav.parts.locks.make(
      { owner: canonicalDn("CN=alice"), server: "HPC", uid: "alice" },
      { path: `/x${i}`, directory: false, deep: false, shared: false, note: "" },
      null,
    );
    assert.ok(made.ends > 0);
  }
  assert.equal(await dav.told("LOCK", "d/ten.txt", { body: lockinfo() }), "507 ERR_TOO_MANY_LOCKS");
  assert.match(await dav.told("LOCK", "d/ten.txt", { body: lockinfo(), as: "carol", uid: "carol" }), /^200/);
  const infinite = {
    body: lockinfo(),
    headers: { Timeout: "Infinite, Second-4100000000" },
    as: "dave",
    uid: "dave",
  };
  assert.match(await dav.told("LOCK", "d2/canary", infinite), /Second-3600/);
});

Deno.test("WebDAV ends a download when its caller is banned", async () => {
  await using dav = await DavSite.open();
  await Deno.truncate(`${dav.root}/d/ten.txt`, 200_000_000);
  const response = await dav.ask("GET", "d/ten.txt");
  const reader = response.body?.getReader();
  await reader?.read();
  dav.ban(new Error("banned"));
  await assert.rejects(async () => {
    while (!(await reader?.read())?.done);
  });
});

Deno.test("WebDAV deletes, copies and moves neither the root nor the targets of links", async () => {
  await using dav = await DavSite.open();
  const limits = { includes: `${dav.root}/*` }; // protects this machine if the test fails
  assert.equal(await dav.told("DELETE", "/dav/HPC/", { limits }), "403 ERR_NOT_PERMITTED");
  for (const method of ["COPY", "MOVE"]) {
    const into = { headers: { Destination: `/dav/HPC${dav.root}/d/new` } };
    assert.equal(await dav.told(method, "/dav/HPC/", into), "403 ERR_OVERLAP", method);
    const over = { headers: { Destination: "/dav/HPC/" } };
    assert.equal(await dav.told(method, "d/ten.txt", over), "403 ERR_OVERLAP", method);
  }
  await Deno.symlink(`${dav.root}/d2`, `${dav.root}/d/sub/link`);
  assert.equal(await dav.told("DELETE", "d"), "204");
  assert.equal(await Deno.readTextFile(`${dav.root}/d2/canary`), "CANARY");
});
