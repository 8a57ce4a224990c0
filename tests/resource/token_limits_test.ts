/** Tests that a narrowed token gives sessions and shares within its restrictions, and never more than its login. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { TokenIssuer } from "../../src/authentication/issued_token/issue.ts";
import { issuedToken } from "../../src/authentication/issued_token/verify.ts";
import { SILENT } from "../../src/logging/logger.ts";
import type { Caller, Identity } from "../../src/model/identity.ts";
import { HttpError } from "../../src/model/http_error.ts";
import { ACTIVITIES, type TokenRestrictions } from "../../src/model/token_restrictions.ts";
import { patternsLieInside } from "../../src/daemon/encode_command.ts";
import {
  checkTokenAddresses,
  checkTokenServer,
  confinedSession,
  tokenCoversShare,
  tokenSources,
} from "../../src/resource/token_limits.ts";
import type { PathLimits } from "../../src/files/path_limits.ts";
import { matchesPattern } from "../../src/files/path_pattern.ts";
import { addressInRange } from "../../src/model/address.ts";
import { createAuthority } from "../pki/authority.ts";
import { bearer } from "../authentication/sample_credentials.ts";
import { SharingSite } from "./sharing_site.ts";

const bearing = (restrictions?: TokenRestrictions): Caller => ({
  kind: "authenticated",
  identity: {
    dn: "CN=Ann",
    method: "ETD",
    via: "ETD",
    issuedToken: { issuer: "CN=auth", renewable: true, restrictions },
  },
});
const session = (restrictions: TokenRestrictions, file: string, limits: PathLimits = {}, home?: string) =>
  confinedSession({ caller: bearing(restrictions) }, file, { limits, home: () => Promise.resolve(home) });

const RUN7: TokenRestrictions = { paths: ["/data/run7/"], activity: "read" };

Deno.test("a session of a narrowed token begins in its directory and reaches only what is below", async () => {
  const confined = { file: "/data/run7/", permission: "READ", includes: "/data/run7/*", excludes: undefined };
  assert.deepEqual({ excludes: undefined, ...await session(RUN7, "/data/run7/") }, confined);
  assert.deepEqual({ excludes: undefined, ...await session(RUN7, "/data//x/../run7/./") }, confined);
  assert.deepEqual({ excludes: undefined, ...await session(RUN7, "", {}, "/data/run7") }, confined);
  const below = await session({ ...RUN7, activity: "write" }, "a/", {}, "/data/run7/");
  assert.deepEqual([below.file, below.includes, below.permission], [
    "/data/run7/a/",
    "/data/run7/a/*",
    "WRITE",
  ]);
  assert.equal((await session({ paths: RUN7.paths }, "/data/run7/")).permission, "FULL");
});

Deno.test("a session of a token for one activity is the user's own, with fewer permissions", async () => {
  assert.deepEqual({ ...await session({ activity: "read" }, "", { excludes: ".ssh/*" }) }, {
    file: "",
    permission: "READ",
    includes: undefined,
    excludes: ".ssh/*",
  });
});

Deno.test("absolute patterns are applied to the directory where a session begins, which is sent to the daemon", async () => {
  const begin = async (file: string, limits: PathLimits, home?: string) => {
    const { file: sent, includes, excludes } = await session({}, file, limits, home);
    return [sent, includes, excludes];
  };
  const secret = { excludes: "/work/secret/*: *.key" };
  const sent = (file: string) => [file, "*:.", "*.key"];
  for (const home of ["/home/ann", "/home//ann/"]) {
    assert.deepEqual(await begin("./", secret, home), sent("/home/ann/"));
    assert.deepEqual(await begin("sub/../a/", secret, home), sent("/home/ann/a/"));
  }
  for (const file of ["/data//x/", "/data/./x/", "/work/secret/../../data/x/", "//data/x/"]) {
    assert.deepEqual(await begin(file, secret), sent("/data/x/"));
  }
  assert.deepEqual(await begin("", secret, "/home/ann"), ["", undefined, "/work/secret/*:/*.key"]);
  assert.deepEqual(await begin("./", secret), ["./", "*:.", secret.excludes], "no home is known");
  for (const file of ["/work//secret/a/", "/data/../work/secret/a/", "../../work/secret/a/"]) {
    await assert.rejects(begin(file, secret, "/home/ann"), { code: "ERR_OUTSIDE_LIMITS" });
  }
  const mixed = { excludes: ".ssh/*:/work/secret/*" };
  assert.deepEqual(await begin("./", mixed, "/home/ann"), ["", undefined, mixed.excludes]);
  assert.deepEqual(await begin("/data//x/", {}), ["/data//x/", undefined, undefined]);
});

Deno.test("the user's own limits hold in a session of a narrowed token", async () => {
  const given = async (limits: PathLimits) => {
    const { includes, excludes } = await session(RUN7, "/data/run7/", limits);
    return [includes, excludes];
  };
  assert.deepEqual(await given({ includes: "/data/*" }), ["/data/run7/*", undefined]);
  assert.deepEqual(await given({ includes: "/data/run7/a/*:/work/*" }), ["/data/run7/a/*", undefined]);
  assert.deepEqual(await given({ includes: "*.txt", excludes: "*.key" }), ["*.txt", "*.key"]);
  assert.deepEqual(await given({ excludes: "/data/run7/secret" }), ["/data/run7/*", "/data/run7/secret"]);
  await assert.rejects(given({ includes: "/work/*" }), { code: "ERR_OUTSIDE_LIMITS" });
  await assert.rejects(given({ includes: "/data/*/x" }), { code: "ERR_OUTSIDE_LIMITS" });
  await assert.rejects(given({ includes: "/data/run7*x" }), { code: "ERR_OUTSIDE_LIMITS" });
  await assert.rejects(given({ excludes: ".ssh/*" }), { code: "ERR_LIMITS_FROM_HOME" });
});

const ELSEWHERE = [
  "/",
  "/data/",
  "/data/run72/",
  "/data/run7/../",
  "",
  "a/",
  "../data/",
  "/data/run7/*/",
  "/data/run7/a:b/",
  "/data/run7/a /",
];

for (const file of ELSEWHERE) {
  Deno.test(`a token for /data/run7/ opens no session in ${JSON.stringify(file)}`, async () => {
    await assert.rejects(session(RUN7, file, {}, "/home/ann"), { code: "ERR_TOKEN_RESTRICTIONS" });
    await assert.rejects(session(RUN7, file), { code: "ERR_TOKEN_RESTRICTIONS" });
  });
}

Deno.test("a token is valid only for its servers, and for sessions from its addresses", () => {
  const call = { caller: bearing({ servers: ["HPC"], address: "192.0.2.0/24" }) };
  checkTokenServer(call, "HPC");
  checkTokenAddresses(call, ["192.0.2.7"]);
  assert.throws(() => checkTokenServer(call, "TWO"), { code: "ERR_TOKEN_RESTRICTIONS" });
  assert.throws(() => checkTokenAddresses(call, ["192.0.2.7", "198.51.100.1"]), {
    code: "ERR_TOKEN_RESTRICTIONS",
  });
});

Deno.test("shares made with a narrowed token lie within its restrictions", async () => {
  await using site = await SharingSite.open();
  const whole = await site.share("d/", { access: "WRITE" });
  const restrictions = { paths: [`${site.root}/d/`], activity: "read", address: "127.0.0.0/8" } as const;
  site.restrictions = restrictions;
  const id = await site.share("d/ten.txt");
  const { share } = await (await site.ask("alice", "GET", `share/HPC/${id}`)).json();
  assert.deepEqual(share.sources, ["127.0.0.0/8"], "as the token");
  const refused = async (method: string, path: string, body?: unknown) => {
    const response = await site.ask("alice", method, path, { body });
    assert.equal(response.status, 403, `${method} ${path}`);
    assert.match(await response.text(), /ERR_TOKEN_RESTRICTIONS/);
  };
  const user = "CN=bob,O=Example";
  const path = `${site.root}/d/ten.txt`;
  await refused("POST", "share/HPC", { path, user, access: "WRITE" });
  await refused("POST", "share/HPC", { path, user, sources: ["127.0.0.1", "192.0.2.1"] });
  await refused("POST", "share/HPC", { path: site.root, user });
  await refused("POST", "share/HPC", { path: site.root, user, access: "NONE" });
  await refused("PUT", `share/HPC/${id}`, { path: site.root });
  await refused("PUT", `share/HPC/${id}`, { sources: [] });
  for (const method of ["GET", "DELETE"]) await refused(method, `share/HPC/${whole}`);
  await refused("PUT", `share/HPC/${whole}`, { lifetime: 10 });
  const { shares } = await (await site.ask("alice", "GET", "share/HPC")).json();
  assert.deepEqual(shares.map((each: { id: string }) => each.id), [id], "links of others are not shown");
  assert.equal((await site.ask("alice", "PUT", `share/HPC/${id}`, { body: { lifetime: 10 } })).status, 200);
  assert.equal((await site.ask("alice", "DELETE", `share/HPC/${id}`)).status, 200);
  site.restrictions = { servers: ["OTHER"] };
  await refused("GET", "share/HPC");
});

Deno.test("a narrowed token restricts the use of other users' shares", async () => {
  await using site = await SharingSite.open();
  await site.share("d/", { access: "WRITE", user: "CN=bob,O=Example" });
  const open = async (serverPath: string, send = "true") => {
    const response = await site.ask("bob", "POST", "access/HPC", { body: { serverPath, send } });
    await response.body?.cancel();
    return [response.status, site.site.daemon.sessionRequests.at(-1)?.get("access-permissions")];
  };
  assert.deepEqual(await open(`${site.root}/d/`), [200, "WRITE"]);
  site.restrictions = { paths: [`${site.root}/d/sub/`], activity: "read" };
  assert.equal((await open(`${site.root}/d/`))[0], 403);
  assert.deepEqual(await open(`${site.root}/d/sub/`), [200, "READ"]);
  assert.equal((await open(`${site.root}/d/sub/`, "false"))[0], 403);
});

// ---- No sequence of narrowing, renewing and sharing gives more than the login had.

const TLS = {
  ...createAuthority({ subject: "CN=Test CA" }).issue({ subject: "CN=auth,O=Site" }),
  anchors: [],
};
const ANN: Identity = { dn: "CN=ann, OU=users", method: "PASSWORD_FILE", via: "PASSWORD", login: "ann" };
const LIMITS: PathLimits = { includes: "/d/*:/w/*", excludes: "/d/a/x" };
const PATHS = ["/", "/d/", "/d/a/", "/d/ab/", "/d/a/b/", "/w/", "/e/"];
const RANGES = ["0.0.0.0/0", "10.0.0.0/8", "10.1.0.0/16", "10.1.2.3", "192.0.2.0/24"];
const PROBES = ["/d/f", "/d/a/f", "/d/a/x", "/d/ab/f", "/d/a/b/f", "/w/f", "/e/f", "/f"];
const FROM = ["10.1.2.3", "10.1.9.9", "10.9.9.9", "192.0.2.1", "203.0.113.1"];
const SERVERS = ["HPC", "TWO"];
const RIGHTS = { NONE: 0, INFO: 0, READ: 1, WRITE: 2, FULL: 3, MODIFY: 2 } as const;

const asked = fc.record({
  paths: fc.subarray(PATHS, { minLength: 1, maxLength: 2 }),
  activity: fc.constantFrom(...ACTIVITIES),
  servers: fc.subarray(SERVERS, { minLength: 1 }),
  address: fc.constantFrom(...RANGES),
}, { requiredKeys: [] });
const step = fc.oneof(
  fc.record({ kind: fc.constant("narrow" as const), restrictions: asked }),
  fc.record({ kind: fc.constant("renew" as const) }),
);
const shared = fc.record({
  path: fc.constantFrom(...PATHS, ...PROBES),
  access: fc.constantFrom("READ" as const, "WRITE" as const, "MODIFY" as const),
  sources: fc.subarray(RANGES, { maxLength: 2 }),
});

/** Returns the rights of a caller: for each `server address path`, the degree of access. */
async function rightsOf(caller: Caller): Promise<Map<string, number>> {
  const rights = new Map<string, number>();
  for (const server of SERVERS) {
    for (const from of FROM) {
      for (const file of PATHS) {
        try {
          checkTokenServer({ caller }, server);
          checkTokenAddresses({ caller }, [from]);
          const order = await confinedSession({ caller }, file, {
            limits: LIMITS,
            home: () => Promise.resolve("/d/a"),
          });
          const { includes = "", excludes = "", permission } = order;
          assert.ok(patternsLieInside(includes, order.file));
          const matches = (list: string, path: string) =>
            list.split(":").some((pattern) =>
              pattern !== "" &&
              matchesPattern(pattern.startsWith("/") ? pattern : `${order.file}${pattern}`, path)
            );
          for (const path of PROBES) {
            const reached = path.startsWith(order.file) && matches(includes, path) &&
              !matches(excludes, path);
            const key = `${server} ${from} ${path}`;
            if (reached) {
              rights.set(
                key,
                Math.max(rights.get(key) ?? 0, RIGHTS[permission]),
              );
            }
          }
        } catch (error) {
          if (!(error instanceof HttpError)) throw error;
        }
      }
    }
  }
  return rights;
}

Deno.test("no sequence of narrowing, renewing and sharing gives more than the login had", async () => {
  const parts = { tls: () => TLS, clock: () => Date.now() };
  const issuer = new TokenIssuer({
    ...parts,
    derivedUntil: () => Infinity,
    limits: { defaultLifetime: 300, maxLifetime: 3600 },
  });
  const check = issuedToken({
    ...parts,
    trustedIssuers: [],
    accountStatus: () => Promise.resolve({ kind: "cannot tell" }),
    log: SILENT,
  });
  const seen = { narrowed: 0, widening: 0, shared: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 4 }),
      fc.array(shared, { maxLength: 12 }),
      async (steps, shares) => {
        let caller: Caller = { kind: "authenticated", identity: ANN };
        let rights = await rightsOf(caller);
        for (const each of steps) {
          const restrictions = each.kind === "narrow" ? each.restrictions : undefined;
          try {
            const token = await issuer.issue(caller, { renewable: true, limited: false, restrictions }, {
              role: "user",
              clientAddress: "10.1.2.3",
            });
            const address = FROM.find((from) => {
              try {
                checkTokenAddresses({ caller }, [from]);
                return restrictions?.address === undefined || addressInRange(from, restrictions.address);
              } catch {
                return false;
              }
            });
            const result = await check.authenticate(
              { ...bearer(token), clientAddress: address ?? "203.0.113.99" },
              new AbortController().signal,
            );
            if (result.kind !== "accepted") break; // no sample address may use the token
            caller = { kind: "authenticated", identity: result.identity };
          } catch (error) {
            if (!(error instanceof HttpError) || error.code !== "ERR_TOKEN_RESTRICTIONS") throw error;
            seen.widening++;
            continue;
          }
          const now = await rightsOf(caller);
          for (const [right, much] of now) {
            assert.ok(much <= (rights.get(right) ?? 0), `${right} ${much} after ${JSON.stringify(each)}`);
          }
          seen.narrowed += now.size < rights.size ? 1 : 0;
          rights = now;
        }
        for (const { path, access, sources: wanted } of shares) {
          const sources = tokenSources({ caller }, wanted);
          if (!tokenCoversShare({ caller }, { path, access, sources })) continue;
          seen.shared++;
          for (
            const probe of PROBES.filter((each) =>
              each === path || (path.endsWith("/") && each.startsWith(path))
            )
          ) {
            for (const from of FROM) {
              const here = sources.length === 0 || sources.some((range) => addressInRange(from, range));
              const inLimits = /^\/[dw]\//.test(probe) && probe !== "/d/a/x"; // a share's session has the owner's limits
              if (!here || !inLimits) continue;
              const had = SERVERS.some((server) =>
                (rights.get(`${server} ${from} ${probe}`) ?? 0) >= RIGHTS[access]
              );
              assert.ok(had, `${access} ${path} from ${from}: ${JSON.stringify(caller)}`);
            }
          }
        }
      },
    ),
    { numRuns: 50 },
  );
  for (const [what, times] of Object.entries(seen)) assert.ok(times > 0, `nothing was ${what}`);
});
