/** Compares the published schemas of request bodies with what the handlers read. */
import assert from "node:assert/strict";
import { hashWithScrypt } from "../../src/authentication/password/stored_hash.ts";
import { isHttpError } from "../../src/model/http_error.ts";
import { Secret } from "../../src/model/secret.ts";
import type { Call } from "../../src/resource/call.ts";
import { carryOut } from "../../src/resource/admin/administration.ts";
import { openSession } from "../../src/resource/open_session.ts";
import description from "../../src/service/http/openapi.json" with { type: "json" };
import { call, FACTS, server, serversOf, USER } from "../resource/sample_call.ts";
import { SharingSite } from "../resource/sharing_site.ts";
import { mismatches, type Schema } from "./json_schema.ts";

const SCHEMAS = new Map<string, Schema>(
  Object.entries(JSON.parse(JSON.stringify(description.components.schemas))),
);
const EVERYBODY = "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN";

const site = await SharingSite.open();
Deno.test.afterAll(() => site[Symbol.asyncDispose]());
await Deno.mkdir(`${site.root}/dir`);
await Deno.writeTextFile(`${site.root}/file`, "x");
await Deno.writeTextFile(`${site.root}/changed`, "x");
await site.share("file");
const changed = await site.share("changed");

const hash = await hashWithScrypt("password"); // one hash for all passwords, since each costs too much time
site.parts = { ...site.parts, hashing: { run: () => Promise.resolve(hash) } as never };

type Body = Readonly<Record<string, unknown>>;

/** Valid body, and a function that returns the handler's error for another body, or `undefined`. */
interface Subject {
  readonly body: Body;
  readonly ask: (body: unknown) => Promise<string | undefined>;
}

const SUBJECTS: Record<string, Subject> = {
  ShareRequest: {
    body: { path: `${site.root}/dir/`, user: EVERYBODY, access: "DROP" },
    ask: (body) => complaint(site.ask("alice", "POST", "share/HPC", { body })),
  },
  ShareChange: {
    body: {},
    ask: (body) => complaint(site.ask("alice", "PUT", `share/HPC/${changed}`, { body })),
  },
  SharedSessionRequest: {
    body: { serverPath: `${site.root}/file` },
    ask: (body) => complaint(site.ask("alice", "POST", "access/HPC", { body })),
  },
  SessionRequest: { body: { serverPath: "" }, ask: (body) => thrown(() => requestSession(body)) },
};

for (
  const [action, body] of Object.entries<Body>({
    ShowUserInfo: { uid: "ann" },
    ModifyShare: { id: "x", serverName: "HPC" },
    IssueAPIToken: { subject: "CN=Ann" },
  })
) SUBJECTS[`AdminRequest ${action}`] = { body, ask: (body) => thrown(() => administer(action, body)) };

/** Errors for values that the document admits: they depend on the site and the share. */
const OF_THE_SITE = /sends no mail|receives no files/;

async function complaint(answer: Promise<Response>): Promise<string | undefined> {
  const response = await answer;
  const text = await response.text();
  const message = response.status === 400 ? JSON.parse(text).errorMessage : undefined;
  return OF_THE_SITE.test(message) ? undefined : message;
}

async function thrown(work: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await work();
  } catch (error) {
    assert(isHttpError(error, "ERR_INVALID_REQUEST"), String(error));
    return error.publicMessage;
  }
}

async function requestSession(body: unknown): Promise<undefined> {
  const facts = server("HPC", { up: true });
  const grant = { host: "h", port: 1, instance: 1, secret: new Secret("s3") };
  const daemons = { ...facts.daemons, openSession: () => Promise.resolve(grant) };
  await openSession(asking(call("HPC", serversOf({ ...facts, daemons })), body), undefined);
}

/** Runs an action of the admin API. @returns Reason of a failure. */
async function administer(action: string, body: unknown): Promise<string | undefined> {
  const identity = { dn: "CN=Boss", method: "PASSWORD_FILE", via: "PASSWORD" };
  const asked = { ...asking(call(), body), params: new Map([["action", action]]) };
  const answer = await carryOut({ ...asked, caller: { kind: "authenticated", identity } }, {
    admin: { accounts: () => Promise.resolve([]) } as never,
    servers: serversOf(server("HPC", { up: true })),
    tokens: { issueFor: () => Promise.resolve("token") } as never,
    shareAdministration: { modify: () => Promise.resolve({}) } as never,
    facts: FACTS,
  });
  const { success, message } = JSON.parse(String(answer.body));
  return success ? undefined : message;
}

function asking(base: Call, body: unknown): Call {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  return {
    ...base,
    user: { ...USER, role: "admin", uid: "ann", availableGroups: ["hpc"] },
    request: { ...base.request, method: "POST", body: bytes },
  };
}

const lookup = (ref: string): Schema => SCHEMAS.get(ref.replace(/.*\//, "")) ?? assert.fail(ref);

/** Returns a schema with its references and alternatives. */
function partsOf(schema: Schema): Schema[] {
  const next = [...(schema.$ref === undefined ? [] : [lookup(schema.$ref)]), ...schema.anyOf ?? []];
  return [schema, ...next.flatMap(partsOf)];
}

/** Returns values on both sides of each bound of a schema. If it has examples, not every text is valid. */
function candidates(schema: Schema): unknown[] {
  const parts = partsOf(schema);
  const examples = parts.flatMap(({ examples = [] }) => examples);
  const numbers = [0, 1, -1, 1.5, 2 ** 31, 1e15];
  const texts = ["", "x", "4", "4.0", " 7 ", "+5", "0", "-1", "1e3", "true", "TRUE", "False", "no", "a\nb"];
  for (const { minimum, maximum, maxLength, enum: words = [] } of parts) {
    for (const bound of [minimum, maximum]) {
      if (bound !== undefined) numbers.push(bound - 1, bound, bound + 1);
    }
    if (maxLength !== undefined) texts.push("x".repeat(maxLength), "x".repeat(maxLength + 1));
    texts.push(...words, ...words.map((word) => word.toLowerCase()));
  }
  texts.push(...numbers.map(String));
  const lists = parts.some(({ type }) => type === "array") ? [Array(33).fill("192.0.2.1"), [1]] : [["x"], []];
  const plain = examples.length > 0 ? examples : [...texts, ...numbers, true, false];
  return [...plain, ...lists, {}];
}

for (const [name, { body, ask }] of Object.entries(SUBJECTS)) {
  const [type = "", action = ""] = name.split(" ");
  const schema = SCHEMAS.get(type) ?? assert.fail(name);
  for (const [field, of] of Object.entries(schema.properties ?? {})) {
    if (!of.description?.includes(action) && action !== "") continue;
    Deno.test(`${name}.${field}: the document and the handler accept the same values`, async () => {
      for (const value of candidates(of)) {
        const described = mismatches(value, of, lookup, field);
        const complaint = await ask({ ...body, [field]: value });
        const shown = `${JSON.stringify(value).slice(0, 60)}: ${described} / ${complaint}`;
        assert.equal(complaint !== undefined, described.length > 0, shown);
        if (complaint !== undefined) assert.match(complaint, new RegExp(`\\b(?:${field}|path)\\b`), shown);
      }
      if (!Object.hasOwn(body, field)) assert.equal(await ask({ ...body, [field]: null }), undefined);
    });
  }

  Deno.test(`${name}: the document and the handler require the same fields`, async () => {
    for (const field of schema.required ?? []) {
      const { [field]: _, ...less } = body;
      assert.match(await ask(less) ?? "", new RegExp(`\\b${field}\\b`));
    }
    for (const value of [[], null, "x", 1]) assert.match(await ask(value) ?? "", /must be a JSON object/);
  });
}

Deno.test("SharedSessionRequest has the fields of SessionRequest, plus those that name a share and its owner", () => {
  const { serverPath: _, ...own } = SCHEMAS.get("SessionRequest")?.properties ?? {};
  const { serverPath: _path, owner: _owner, share: _share, ...shared } =
    SCHEMAS.get("SharedSessionRequest")?.properties ?? {};
  assert.deepEqual(shared, own);
});
