/**
 * Tests how long access lasts after a change, by the table in docs/security.md. A row names a change, a cell
 * the time within which the change ends one kind of access. A row or cell without a test fails.
 */
import assert from "node:assert/strict";
import { Agent } from "node:https";
import { DatabaseSync } from "node:sqlite";
import { createPrivateKey } from "node:crypto";
import { inspect } from "../../src/command/diagnosis/inspect.ts";
import { type EdgeTls, LIMITS } from "../../src/edge/edge_options.ts";
import { HttpsEdge } from "../../src/edge/https_edge.ts";
import { createLogger } from "../../src/logging/logger.ts";
import { canonicalDn } from "../../src/model/distinguished_name.ts";
import type { TlsMaterial } from "../../src/model/tls_material.ts";
import { createService } from "../../src/service/service.ts";
import { signToken } from "../authentication/sign_token.ts";
import { partsWith } from "../edge/edge_parts.ts";
import { inTime, until } from "../fixtures/deadline.ts";
import { CODE_CLIENT, startCodeProvider } from "../identity_provider/code_provider.ts";
import { createAuthority, type Credential } from "../pki/authority.ts";
import { authenticatorProperties } from "../system/every_method.ts";
import { ask, type Question, type Reply } from "../system/ask.ts";
import { ALICE, ALICE_DN, passwordLine } from "../system/running_service.ts";
import { createSharingSite } from "../system/sharing/sharing_system.ts";
import { formToken, Visitor } from "../system/visitor.ts";

const CERT_DN = "CN=Alice by certificate,O=Demo,C=EU";
const HOUR = 3_600_000;
/** More bytes than all buffers on the way, which hold less than 8 MiB. */
const BIG = 12 * 1024 ** 2;
const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const clients = createAuthority({ subject: "CN=Client CA,O=Demo,C=EU" });
const friend = createAuthority({ subject: "CN=Friend,O=Site-B,C=DE", ca: false });

/** Starts service, edge and provider in this process, with one clock that the test sets. */
async function start() {
  const state = { offset: 0 };
  const clock = () => Date.now() + state.offset;
  const provider = await startCodeProvider(authority.issue({ subject: "CN=idp", names: ["localhost"] }));
  Object.assign(provider, { now: clock, refreshing: true });
  const issuerDn = `CN=alice,O=${provider.issuer}`;
  const mapped = { role: "user", xlogin: "alice", group: ["hpc"] };
  const map = { [ALICE_DN]: mapped, [CERT_DN]: mapped };
  const site = await createSharingSite({
    authority,
    map,
    files: { "conf/clients.pem": clients.certificate, "conf/friend.pem": friend.certificate },
    properties: {
      "container.security.rest.jwt.trustedLocalIssuer.1": "{folder}/conf/friend.pem",
      "container.security.rest.authentication.order": "PASSWORD OIDC X509",
      "container.security.rest.authentication.X509.class": "X509Authenticator",
      ...authenticatorProperties("OIDC", {
        class: "OAuthAuthenticator",
        issuer: provider.issuer,
        signIn: "true",
        clientID: CODE_CLIENT.id,
        clientSecret: CODE_CLIENT.secret,
        requiredClient: CODE_CLIENT.id,
        identityTemplate: "CN=%sub%,O=%iss%",
        uidAssign: "sub",
        groupsClaim: "groups",
        requiredGroups: "hpc",
      }),
      "container.httpServer.wantClientAuthn": "true",
      "container.security.clientTruststore.type": "directory",
      "container.security.clientTruststore.directoryLocations.1": "{folder}/conf/clients.pem",
    },
  });
  using file = await Deno.create(`${site.data}/d/big`);
  await file.truncate(BIG);
  await Deno.mkdir(`${site.folder}/data`, { recursive: true });
  const { snapshot, diagnostics } = await inspect(site.main);
  assert(snapshot?.material !== undefined, diagnostics.map(({ expected }) => expected).join());
  const { material } = snapshot;
  const tls = (material: TlsMaterial): EdgeTls => ({
    ...material,
    ...material.clients ?? material,
    clientCertificate: "requested",
    minVersion: "TLSv1.2",
    maxVersion: "TLSv1.3",
  });
  const options = { address: "127.0.0.1", port: 0, maxConnections: 0, limits: LIMITS, tls: tls(material) };
  const lines: string[] = [];
  const made: { service?: Awaited<ReturnType<typeof createService>> } = {};
  const parts = partsWith((request, signal) => {
    assert(made.service !== undefined);
    return made.service.answer(request, signal);
  });
  const edge = await HttpsEdge.start(options, { ...parts, clock });
  const service = made.service = await createService(
    { ...snapshot, generation: 1, upSince: 0, port: edge.port },
    {
      log: createLogger((line) => void lines.push(line)),
      clock,
    },
  );
  return { state, clock, provider, issuerDn, site, map, snapshot, made, service, edge, material, tls, lines };
}

const at = await start();
Deno.test.afterAll(async () => {
  agent.destroy();
  await at.edge.drain(100);
  await at.service.close();
  await at.site[Symbol.asyncDispose]();
  await at.provider[Symbol.asyncDispose]();
});

/** For requests without a certificate; those with one need a new connection, as an edge asks only once. */
const agent = new Agent({ keepAlive: true });
const system = { port: at.edge.port, authority, agent };
const origin = `https://localhost:${at.edge.port}`;
const send = (path: string, question: Question = {}) =>
  ask(origin + path, authority.certificate, { agent, ...question });

/** Credentials of a user after a login. */
interface Login {
  /** Credentials to send with requests. */
  readonly shown: Question;
  readonly browser: Visitor;
  /** Token from the login; absent: the browser creates one. */
  readonly token?: string;
}

async function byPassword(): Promise<Login> {
  const browser = new Visitor(system);
  assert.equal((await browser.signIn(ALICE)).status, 303);
  return { shown: { as: ALICE }, browser };
}

async function byProvider(): Promise<Login> {
  const browser = new Visitor(system);
  const { headers: { location = "" } } = await browser.get("/login/OIDC");
  assert.equal((await browser.get(at.provider.signIn(location, "alice"))).status, 303);
  const now = Math.floor(at.clock() / 1000);
  const claims = { iss: at.provider.issuer, sub: "alice", iat: now, exp: now + 300, auth_time: now };
  const scope = {
    aud: "uftp",
    client_id: CODE_CLIENT.id,
    scope: "openid",
    groups: ["hpc"],
    jti: crypto.randomUUID(),
  };
  const token = at.provider.signer.sign({ ...claims, ...scope });
  return { shown: { headers: { Authorization: `Bearer ${token}` } }, browser };
}

let certificate: Credential;

async function byCertificate(): Promise<Login> {
  certificate = clients.issue({ subject: CERT_DN, notAfter: new Date(at.clock() + 2 * HOUR) });
  const shown = { certificate, agent: false as const };
  const browser = new Visitor(system);
  const page = await browser.get("/login", shown);
  const fields = { token: formToken(page), way: "certificate" };
  assert.equal((await browser.post("/login", fields, shown)).status, 303);
  return { shown, browser };
}

async function byForeignToken(): Promise<Login> {
  const now = Math.floor(at.clock() / 1000);
  const token = signToken({
    header: { alg: "ES256" },
    key: createPrivateKey(friend.key),
    claims: {
      sub: ALICE_DN,
      iss: "CN=Friend,O=Site-B,C=DE",
      iat: now,
      exp: now + 3600,
      etd: "true",
      renewable: "true",
    },
  });
  const shown = bearerOf(token);
  const { browser } = await byPassword();
  return { shown, browser, token: await renewal(shown) };
}

/** Requests a token with another one. */
async function renewal({ headers }: Question): Promise<string> {
  const path = "/rest/auth/token?renewable=true";
  return tokenIn(await send(path, { headers: { ...headers, Accept: "text/plain" } }));
}

/** Reports whether one kind of access still works. */
type Try = () => Promise<boolean>;

/** Access that a user has by a login, with a check for each column of the table. */
interface Possessions {
  readonly tries: ReadonlyMap<string, Try>;
  readonly shareId: string;
  readonly token: string;
  readonly tokenId: string;
  close(): void;
}

async function possessionsOf({ shown, browser, token: given }: Login): Promise<Possessions> {
  const page = await browser.get("/tokens");
  const made = await browser.post("/tokens", { token: formToken(page), name: "t", hours: "24" });
  const token = given ?? tokenIn(made);
  const bearer = bearerOf(token);
  const { tokens } = (await send("/rest/auth/tokens", bearer)).json();
  const tokenId = Array.isArray(tokens) ? tokens.find(({ current }) => current === true)?.id : undefined;
  const body = { path: `${at.site.data}/d/`, user: "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN", access: "READ" };
  const share = await send("/rest/share/HPC", { ...shown, body });
  assert.equal(share.status, 201, share.text);
  const shareId = share.headers.location?.split("/").at(-1) ?? "";
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: authority.certificate });
  const kept: Question = { ...(shown.as || shown.certificate ? shown : bearer), agent };
  const isKnown = async (question: Question) => {
    const reply = await send("/rest/auth", question);
    if (reply.status !== 200) return false;
    const { client } = reply.json();
    return /"selected":"user"/.test(JSON.stringify(client));
  };
  assert.ok(await isKnown(kept), "the kept connection");
  const approved = [await approvedBy(browser), await approvedBy(browser)];
  const download = await begin(`/rest/access/HPC/${shareId}/big`, shown);
  return {
    shareId,
    token,
    tokenId,
    tries: new Map<string, Try>([
      ["New logins", () => isKnown(shown)],
      ["Browser sessions", async () => (await browser.get("/tokens")).status === 200],
      ["Tokens of this service", () => isKnown(bearer)],
      ["Approved device logins", async () => {
        const reply = await oauth("/oauth/token", { grant_type: GRANT, device_code: approved.pop() ?? "" });
        const { access_token } = reply.json();
        return reply.status === 200 &&
          await isKnown({ headers: { Authorization: `Bearer ${access_token}` } });
      }],
      ["Existing shares", async () => (await send(`/rest/access/HPC/${shareId}/ten.txt`)).status === 200],
      ["Kept connections", () => isKnown(kept)],
      ["Transfers in progress", download.finish],
    ]),
    close() {
      agent.destroy();
      download.close();
    },
  };
}

const GRANT = "urn:ietf:params:oauth:grant-type:device_code";

const oauth = (path: string, fields: Readonly<Record<string, string>>) =>
  send(path, { method: "POST", headers: FORM, body: new URLSearchParams(fields).toString() });

/** Returns the device code of a program that a browser has approved. */
async function approvedBy(browser: Visitor): Promise<string> {
  const { device_code, user_code } = (await oauth("/oauth/device", { client_id: "tool" })).json();
  const page = await browser.get("/login/device");
  const fields = { token: formToken(page), user_code: String(user_code) };
  assert.equal((await browser.post("/login/device/allow", fields)).status, 200);
  return String(device_code);
}

/** Begins to read a file that is larger than all buffers on the way. */
async function begin(path: string, { as, certificate, headers }: Question) {
  const client = Deno.createHttpClient({
    caCerts: [authority.certificate],
    ...(certificate && { cert: certificate.certificate, key: certificate.key }),
  });
  const response = await fetch(origin + path, {
    client,
    headers: { ...headers, ...(as && { Authorization: `Basic ${btoa(as.join(":"))}` }) },
  });
  assert.equal(response.status, 200);
  const finish = () => inTime(response.bytes().then(({ length }) => length === BIG, () => false), "the end");
  return { finish, close: () => client.close() };
}

/** Row of the table: a login, the change, and how to restore the state for the next row. */
interface Ending {
  readonly login: () => Promise<Login>;
  readonly end: (had: Possessions) => Promise<unknown>;
  readonly restore?: () => unknown;
}

const password = (line: string) => at.site.replace("conf/users.txt", line);
const soon = (condition: () => Promise<boolean>) => inTime(until(condition), "a file that is read again");
const nobodyKnows = async (answer: number) => {
  await soon(async () =>
    (await send("/tokens", { as: ALICE, headers: { Accept: "text/html" } })).status === answer
  );
};
const restorePassword = async () => {
  await password(passwordLine(ALICE, ALICE_DN));
  await soon(async () => JSON.stringify((await send("/rest/auth", { as: ALICE })).json()).includes(ALICE_DN));
};
const renewed = (material: TlsMaterial) => {
  at.edge.renewTls(at.tls(material));
  at.service.renewTls(material);
};
const logoutToken = () => {
  const now = Math.floor(at.clock() / 1000);
  const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
  const common = {
    iss: at.provider.issuer,
    aud: CODE_CLIENT.id,
    iat: now,
    exp: now + 120,
    jti: crypto.randomUUID(),
  };
  return at.provider.signer.sign({ ...common, events, sub: "alice" });
};
const FORM = { "Content-Type": "application/x-www-form-urlencoded" };

/** Reports to the service, as the provider, that the user has logged out. */
async function logOut(): Promise<void> {
  const body = new URLSearchParams({ logout_token: logoutToken() }).toString();
  const reply = await send("/oidc/backchannel-logout", { method: "POST", headers: FORM, body });
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.headers["cache-control"], "no-store");
}

function tokenIn({ text }: Pick<Reply, "text">): string {
  const [token = ""] = /eyJ[\w-]+\.[\w-]+\.[\w-]+/.exec(text) ?? [];
  assert.notEqual(token, "", text);
  return token;
}

const bearerOf = (token: string): Question => ({ headers: { Authorization: `Bearer ${token}` } });

const ENDINGS: Readonly<Record<string, Ending>> = {
  "password changed": {
    login: byPassword,
    async end() {
      await password(passwordLine(["alice", "another-4712"], ALICE_DN));
      await nobodyKnows(401);
    },
    restore: restorePassword,
  },
  "user removed": {
    login: byPassword,
    async end() {
      await password("");
      await nobodyKnows(401);
    },
    restore: restorePassword,
  },
  "locked out at the provider": {
    login: byProvider,
    end: () => Promise.resolve(at.provider.lockedOut.add("alice")),
    restore: () => at.provider.lockedOut.clear(),
  },
  "logged out by the provider": {
    login: byProvider,
    end: logOut,
  },
  "group removed at the provider": {
    login: byProvider,
    end: () => Promise.resolve(at.provider.groups = ["others"]),
    restore: () => at.provider.groups = ["hpc"],
  },
  "trusted issuer removed": {
    login: byForeignToken,
    async end({ token }) {
      const renewed = await renewal(bearerOf(await renewal(bearerOf(token))));
      const { config } = at.snapshot;
      const other = await createService(
        {
          ...at.snapshot,
          config: { ...config, issuedTokens: { ...config.issuedTokens, trustedIssuerFiles: [] } },
          generation: 2,
          upSince: 0,
          port: at.edge.port,
        },
        { log: createLogger(() => {}), clock: at.clock },
      );
      at.made.service = other;
      assert.equal((await send("/rest/auth", bearerOf(renewed))).status, 401, "after two renewals");
    },
    async restore() {
      const other = at.made.service;
      at.made.service = at.service;
      await other?.close();
    },
  },
  "role removed from the map file": {
    login: byPassword,
    async end() {
      await at.site.replace("conf/mapfile.json", "{}");
      await nobodyKnows(403);
    },
    async restore() {
      await at.site.replace("conf/mapfile.json", JSON.stringify(at.map));
      await nobodyKnows(200);
    },
  },
  "client certificate expired": {
    login: byCertificate,
    end: () => Promise.resolve(at.state.offset += 2 * HOUR + 2000),
  },
  "client certificate revoked": {
    login: byCertificate,
    end() {
      const list = clients.revoke([certificate.certificate]).replaceAll(/-----.*-----|\s/g, "");
      renewed({
        ...at.material,
        clients: { anchors: [clients.certificate], revocation: { mode: "IF_VALID", lists: [list] } },
      });
      return Promise.resolve();
    },
    restore: () => renewed(at.material),
  },
  "client authority removed": {
    login: byCertificate,
    end: () => Promise.resolve(renewed({ ...at.material, clients: { anchors: [authority.certificate] } })),
    restore: () => renewed(at.material),
  },
  "share deleted": {
    login: byPassword,
    end: ({ shareId }) => send(`/rest/share/HPC/${shareId}`, { as: ALICE, method: "DELETE" }),
  },
  "token revoked": {
    login: byProvider,
    end: ({ token, tokenId }) =>
      send(`/rest/auth/tokens/${tokenId}`, {
        method: "DELETE",
        headers: { Authorization: `Bearer ${token}` },
      }),
  },
  "user banned": {
    login: byPassword,
    end: () => at.service.admin.call({ command: "ban add", subject: BAN, seconds: 3600 }),
    restore: () => at.service.admin.call({ command: "ban remove", subject: BAN }),
  },
};
const BAN = { user: "alice", names: [canonicalDn(ALICE_DN)] };

Deno.test("a ban works and is audited while the disk of the records is full, and ends browser sessions at the next request", async () => {
  const { browser } = await byPassword();
  const cookies = [...browser.cookies];
  using records = new DatabaseSync(`${at.site.folder}/data/records.sqlite`);
  const full = "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END";
  records.exec(`CREATE TRIGGER full_sign_ins BEFORE DELETE ON record ${full}`);
  try {
    for (const stored of [true, false]) {
      if (!stored) records.exec(`CREATE TRIGGER full_bans BEFORE INSERT ON operator_ban ${full}`);
      const answer = await at.service.admin.call({ command: "ban add", subject: BAN, seconds: 3600 });
      const [result, change] = "result" in answer ? [answer.result, answer.change] : [];
      assert.match(JSON.stringify(result), new RegExp(`"stored":${stored}`));
      assert.equal(change?.event, "ban");
      assert.notEqual((await browser.get("/tokens")).status, 200);
    }
    assert.ok(at.lines.some((line) => /banned user not signed out .*full/.test(line)), at.lines.join(""));
  } finally {
    records.exec("DROP TRIGGER full_sign_ins; DROP TRIGGER IF EXISTS full_bans");
  }
  await browser.get("/tokens");
  await at.service.admin.call({ command: "ban remove", subject: BAN });
  for (const [name, value] of cookies) browser.cookies.set(name, value);
  assert.notEqual((await browser.get("/tokens")).status, 200, "it is signed out");
});

Deno.test("a logout at the provider ends tokens even after the browser session has expired", async () => {
  const { browser } = await byProvider();
  const began = at.state.offset;
  const token = async (fields: Readonly<Record<string, string>>) => {
    const form = formToken(await browser.get("/tokens"));
    return tokenIn(await browser.post("/tokens", { token: form, name: "t", hours: "8", ...fields }));
  };
  // Uses the session until shortly before its end, so that it is not idle.
  for (let minutes = 25; minutes < 480; minutes += 25) {
    at.state.offset = began + minutes * 60_000;
    assert.equal((await browser.get("/tokens")).status, 200, `${minutes} minutes`);
  }
  const made = bearerOf(await token({}));
  const renewable = bearerOf(await token({ renewable: "true" }));
  at.state.offset = began + 8 * HOUR + 1000;
  assert.notEqual((await browser.get("/tokens")).status, 200, "the browser session is over");
  const headers = { ...renewable.headers, Accept: "text/plain" };
  const renewed = bearerOf(tokenIn(await send("/rest/auth/token?lifetime=7200", { headers })));
  const tokens = [made, renewable, renewed];
  const statuses = () =>
    Promise.all(tokens.map(async (one) => (await send("/rest/auth/tokens", one)).status));
  assert.deepEqual(await statuses(), [200, 200, 200]);
  await logOut();
  assert.deepEqual(await statuses(), [401, 401, 401]);
});

Deno.test("a core without the provider of browser sessions refuses them, but ends neither them nor their tokens", async () => {
  const { browser } = await byProvider();
  const form = formToken(await browser.get("/tokens"));
  const token = bearerOf(tokenIn(await browser.post("/tokens", { token: form, name: "t", hours: "8" })));
  at.state.offset += 301_000; // the service has to ask the provider again
  const { authentication } = at.snapshot.config;
  const { authenticators } = authentication;
  const without = authenticators.filter(({ name }) => name !== "OIDC");
  const config = { ...at.snapshot.config, authentication: { ...authentication, authenticators: without } };
  const other = await createService(
    { ...at.snapshot, config, generation: 2, upSince: 0, port: at.edge.port },
    {
      log: createLogger(() => {}),
      clock: at.clock,
    },
  );
  at.made.service = other;
  try {
    assert.notEqual((await browser.get("/tokens")).status, 200);
  } finally {
    at.made.service = at.service;
    await other.close();
  }
  assert.equal((await browser.get("/tokens")).status, 200);
  assert.equal((await send("/rest/auth/tokens", token)).status, 200);
});

/** Longest access after the change, in milliseconds, by the text of a cell; `never` if it must not end. */
const WITHIN: Readonly<Record<string, number | "never">> = {
  "at once": 0,
  "next request": 0,
  "next poll": 0,
  "next use": 0,
  "next list": 0,
  "token's end": 301_000,
  "5 minutes": 301_000,
  "2 seconds": 0,
  "10 minutes": 601_000,
  "8 hours": 8 * HOUR,
  "continue": "never",
};

/** Returns the rows of the table, each with its cells by column titles. */
async function table(): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const page = await Deno.readTextFile(new URL("../../docs/security.md", import.meta.url));
  const lines = page.split("\n").filter((line) => line.startsWith("|"));
  const cellsOf = (line: string) => line.split("|").slice(1, -1).map((cell) => cell.trim());
  const first = lines.findIndex((line) => line.startsWith("| Change "));
  const [, ...titles] = cellsOf(lines[first] ?? "");
  const rows = lines.slice(first + 2).map(cellsOf).filter(({ length }) => length === titles.length + 1);
  return new Map(
    rows.map(([name = "", ...cells]) => [name, new Map(titles.map((title, i) => [title, cells[i] ?? ""]))]),
  );
}

const TABLE = await table();

Deno.test("the tests cover each row of the table of endings, and no other", () => {
  assert.deepEqual([...TABLE.keys()].sort(), Object.keys(ENDINGS).sort());
});

for (const [name, cells] of TABLE) {
  Deno.test(`${name}: access ends as documented`, async () => {
    const ending = ENDINGS[name];
    assert.ok(ending !== undefined, "no test tries this row");
    const had = await possessionsOf(await ending.login());
    assert.deepEqual([...cells.keys()].sort(), [...had.tries.keys()].sort(), "each column is tried");
    try {
      for (const [title, attempt] of had.tries) {
        if (title !== "Transfers in progress") assert.ok(await attempt(), `before: ${title}`);
      }
      at.lines.length = 0;
      await ending.end(had);
      const began = at.state.offset;
      const due = [...cells].filter(([, cell]) => cell !== "–").map(([title, cell]) => {
        const within = WITHIN[cell];
        assert.ok(within !== undefined, `nobody knows what ${cell} means`);
        return { title, cell, within };
      });
      const when = ({ within }: typeof due[number]) => within === "never" ? 0 : within;
      for (const each of due.toSorted((one, other) => when(one) - when(other))) {
        at.state.offset = Math.max(at.state.offset, began + when(each));
        if (each.cell === "2 seconds") {
          await until(() => at.lines.some((line) => line.includes("share use ended with its share")), {
            what: "the end",
          });
        }
        const goesOn = await had.tries.get(each.title)?.();
        assert.equal(goesOn, each.within === "never", `${each.title}: ${each.cell}`);
      }
    } finally {
      had.close();
      await ending.restore?.();
    }
  });
}
