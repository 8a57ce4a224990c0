/** Restricted callers on every route: no route reveals or changes anything that the restriction excludes. */
import assert from "node:assert/strict";
import { Agent } from "node:https";
import { FILES_TYPE, FORM_TYPE, type Route } from "../../src/service/http/router.ts";
import { ROUTES } from "../service/http/every_route.ts";
import { LONG } from "../long/results.ts";
import { ask, type Question, type Reply } from "../system/ask.ts";
import { ALICE } from "../system/running_service.ts";
import { EVERYBODY, SharingSystem } from "../system/sharing/sharing_system.ts";
import { OWN_PAGE, Visitor } from "../system/visitor.ts";

const sharing = await SharingSystem.open({
  properties: {
    "container.feature.Files.enable": "true",
    "container.httpServer.wantClientAuthn": "true",
    "container.security.rest.authentication.order": "PASSWORD X509",
  },
});
const { system, data } = sharing;
Deno.test.afterAll(() => sharing[Symbol.asyncDispose]());

const NAME = "hidden-name.txt";
const CONTENT = "hidden-content";
const outside = `${data}/outside/`;
await Deno.mkdir(outside);
await Deno.writeTextFile(outside + NAME, CONTENT);
const ids = [
  await sharing.share(`outside/${NAME}`, { access: "MODIFY" }),
  await sharing.share("outside/", { access: "DROP", password: "a-password-of-a-link" }),
  await sharing.share("outside/", { user: "CN=Alice,O=Demo,C=EU" }),
];

async function token(query: Readonly<Record<string, string>>): Promise<string> {
  const asked = new URLSearchParams({ lifetime: "3000", ...query });
  return (await system.ask(`/rest/auth/token?${asked}`, { as: ALICE, headers: { Accept: "text/plain" } }))
    .text;
}

interface Request extends Question {
  readonly method: string;
  readonly path: string;
}

const TYPES = ["application/json", "text/html"];

/**
 * Generates requests of a route for files outside the restriction, in every form of its answer. Outside of
 * long runs, each share and view gets one of two media types, in turn.
 * @param turn Index of the first media type outside of long runs.
 */
function* aimed({ method, path, consumes }: Route, turn: number): Generator<Request> {
  for (const [index, id] of (path.includes(":id") ? ids : [""]).entries()) {
    for (const rest of path.includes("*rest") ? ["", NAME] : [""]) {
      const below = path.includes(":id") ? rest : outside.slice(1) + rest;
      const full = path.replace(":server", "HPC").replace(":id", id).replace("*rest", below)
        .replace(":action", "ShowUserInfo").replace(":way", "PASSWORD");
      const file = outside + rest;
      const given = contentFor(method, consumes, file);
      const place = new URLSearchParams({ path: file });
      const views = path.includes("*rest") ? ["?view=zip", "?view=preview", "?view=actions"] : [`?${place}`];
      for (const [view, query] of (method === "GET" ? ["", ...views] : [""]).entries()) {
        for (const Accept of LONG ? TYPES : [TYPES[(turn + index + view) % 2] ?? ""]) {
          const headers = { Accept, Depth: "1", Destination: `/dav/HPC${data}/d/stolen`, ...given.headers };
          yield { ...given, method, path: full + query, headers };
        }
      }
    }
  }
}

function contentFor(method: string, consumes: Route["consumes"], path: string): Question {
  if (consumes === FORM_TYPE) {
    const fields = { path, user: "", access: "NONE", days: "1", do: "delete", way: "certificate" };
    return { headers: { "Content-Type": FORM_TYPE }, body: new URLSearchParams(fields).toString() };
  }
  if (consumes === FILES_TYPE) {
    const file = 'Content-Disposition: form-data; name="f"; filename="new"';
    return {
      headers: { "Content-Type": `${FILES_TYPE}; boundary=x` },
      body: `--x\r\n${file}\r\n\r\nnew\r\n--x--\r\n`,
    };
  }
  if (consumes !== undefined) {
    return { body: { serverPath: path, path, user: EVERYBODY, access: "NONE", lifetime: 1, uid: "alice" } };
  }
  if (method === "PUT") return { body: "new" };
  return method === "LOCK"
    ? {
      body: '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope>' +
        "<D:locktype><D:write/></D:locktype></D:lockinfo>",
    }
    : {};
}

/** Returns the excluded names, contents and ids in a text that the request did not contain. */
function named(text: string, { path, body }: Request): string[] {
  const asked = path + (typeof body === "string" ? body : JSON.stringify(body ?? ""));
  return [NAME, CONTENT, ...ids].filter((mark) => text.includes(mark) && !asked.includes(mark));
}

/** Sends the requests of all routes. @returns Requests whose answers revealed excluded things. */
async function given(turn: number, send: (request: Request) => Promise<Reply>): Promise<string[]> {
  const found: string[] = [];
  for (const route of ROUTES) {
    for (const request of aimed(route, turn)) {
      const { status, text } = await send(request);
      assert(status < 500, `${request.method} ${request.path}: ${status} ${text}`);
      const marks = named(text, request);
      if (marks.length > 0) found.push(`${request.method} ${route.path} (${request.path}): ${marks}`);
    }
  }
  return found;
}

const agent = new Agent({ keepAlive: true });
Deno.test.afterAll(() => agent.destroy());

function send({ path, ...question }: Request, more: Partial<Question>): Promise<Reply> {
  const headers = { ...OWN_PAGE, ...question.headers, ...more.headers };
  return ask(`https://localhost:${system.port}${path}`, system.authority.certificate, {
    agent,
    ...question,
    ...more,
    headers,
  });
}

const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });

/** Returns files and shares as the owner sees them. */
async function present(): Promise<unknown> {
  const files = await Promise.all(
    Array.from(
      Deno.readDirSync(outside),
      async ({ name }) => [name, await Deno.readTextFile(outside + name)],
    ),
  );
  const listed = await system.ask("/rest/share/HPC", { as: ALICE });
  assert.equal(listed.status, 200, listed.text);
  const { shares } = listed.json();
  return { files, shares, stolen: [...Deno.readDirSync(`${data}/d`)].map(({ name }) => name).sort() };
}

Deno.test("no route reveals or changes anything outside the directories of a narrowed token", async () => {
  const before = await present();
  const restrictions: readonly Readonly<Record<string, string>>[] = [
    { path: `${data}/d/`, activity: "read" },
    { server: "TWO" },
  ];
  for (const [turn, restriction] of restrictions.entries()) {
    const narrow = bearer(await token(restriction));
    assert.equal((await system.ask("/rest/auth", narrow)).status, 200);
    assert.deepEqual(await given(turn, (request) => send(request, narrow)), []);
  }
  assert.deepEqual(await present(), before);
});

Deno.test("no route tells the holder of a narrowed token what exists outside its directories", async () => {
  const narrow = bearer(await token({ path: `${data}/d/` }));
  const own = await sharing.share("d/ten.txt");
  await Deno.mkdir(`${outside}directory`);
  const to = (path: string) => ({ Destination: `/dav/HPC${path}`, Overwrite: "F" });
  const asked = (name: string): Request[] => [
    ...["READ", "MODIFY", "DROP"].map((access) => (
      { method: "POST", path: "/rest/share/HPC", body: { path: outside + name, user: EVERYBODY, access } }
    )),
    { method: "PUT", path: `/rest/share/HPC/${own}`, body: { path: outside + name } },
    { method: "GET", path: `/shares/HPC/browse?${new URLSearchParams({ path: outside + name })}` },
    { method: "POST", path: "/rest/auth/HPC", body: { serverPath: outside + name } },
    ...["PROPFIND", "GET", "PUT", "DELETE", "MKCOL", "LOCK", "COPY", "MOVE"].map((method) => (
      { method, path: `/dav/HPC${outside}${name}`, headers: { Depth: "0", ...to(`${data}/d/new`) } }
    )),
    { method: "COPY", path: `/dav/HPC${data}/d/ten.txt`, headers: to(outside + name) },
    { method: "MOVE", path: `/dav/HPC${data}/d/ten.txt`, headers: to(outside + name) },
    { method: "GET", path: `/files/HPC${outside}${name}?view=actions` },
  ];
  const told = async (name: string) =>
    await Promise.all(
      asked(name).map(async (request) => {
        const { status, text } = await send(request, { headers: { ...request.headers, ...narrow.headers } });
        return `${request.method} ${request.path.replace(name, "")}: ${status} ${/"code":"\w+"/.exec(text)}`;
      }),
    );
  const missing = await told("missing");
  assert.deepEqual(await told(NAME), missing);
  assert.deepEqual(await told("directory"), missing);
  await Deno.remove(`${outside}directory`);
  assert.equal((await system.ask(`/rest/share/HPC/${own}`, { as: ALICE, method: "DELETE" })).status, 200);
});

Deno.test("no route reveals or changes anything of a server that does not accept the login", async () => {
  const [before, wide] = [await present(), await token({})];
  const visitor = new Visitor(system);
  await visitor.signIn(ALICE);
  const cookie = [...visitor.cookies].map((pair) => pair.join("=")).join("; ");
  const text = await Deno.readTextFile(system.main);
  const logins: readonly [required: string, login: Partial<Question>][] = [
    ["methods=X509", { as: ALICE }],
    ["requiredAcr=mfa", bearer(wide)],
    ["networks=192.0.2.0/24", { headers: { Cookie: cookie } }],
    ["networks=192.0.2.0/24", {}],
  ];
  for (const [turn, [required, login]] of logins.entries()) {
    await system.replace("conf/container.properties", `${text}authservice.server.HPC.${required}\n`);
    await system.service.reload();
    assert.match((await system.ask("/rest/auth/HPC", { as: ALICE })).text, /"refusal"/);
    assert.deepEqual(await given(turn, (request) => send(request, login)), [], required);
  }
  await system.replace("conf/container.properties", text);
  await system.service.reload();
  assert.deepEqual(await present(), before);
});

Deno.test("a narrowed token neither replaces nor ends a share that grants more, by its path", async () => {
  const fields = { path: `${data}/d/ten.txt`, user: EVERYBODY };
  const id = await sharing.share("d/ten.txt", { access: "MODIFY" });
  const narrow = bearer(await token({ path: `${data}/d/`, activity: "read" }));
  for (const access of ["READ", "NONE"]) {
    const reply = await system.ask("/rest/share/HPC", { ...narrow, body: { ...fields, access } });
    assert.equal(reply.status, 403, access);
    assert.match((await system.ask(`/rest/share/HPC/${id}`, { as: ALICE })).text, /"access":"MODIFY"/);
  }
  assert.equal((await system.ask(`/rest/share/HPC/${id}`, { as: ALICE, method: "DELETE" })).status, 200);
});
