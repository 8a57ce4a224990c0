import assert from "node:assert/strict";
import ANSWERS from "./fixtures/answers.json" with { type: "json" };
import { XuudbSource } from "../../../src/attributes/xuudb/xuudb_source.ts";
import type { Stopwatch } from "../../../src/model/clock.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { NO_ATTRIBUTES } from "../../../src/model/attributes.ts";
import type { OutgoingHttp } from "../../../src/outgoing/outgoing.ts";
import { attributeSet, identity, type Subject, testAttributeSource } from "../conformance.ts";
import { RemoteUnavailable } from "../../../src/outgoing/remote_unavailable.ts";
import { LOOPBACK_HTTP, startXuudb, type XuudbSimulator } from "./xuudb_simulator.ts";

const signal = new AbortController().signal;
const SITE = "SITE-A/ü & <x>";
const ANN = identity("CN=Ann Example, O=Site-A, C=DE");
const USERS = {
  [SITE]: {
    "CN=Ann Example, O=Site-A, C=DE": { xlogin: "a1001:a1002", role: "user", projects: "proj1: :proj2:" },
    "CN=R&D <1>, O=\\+x": { xlogin: "rd" },
    "CN=Colons": { xlogin: ":", role: "::", projects: "" },
  },
};

interface Made extends Subject {
  readonly xuudb: XuudbSimulator;
  readonly source: XuudbSource;
}

function make(
  form: "soap" | "json",
  { cache = true, clock = () => 0 }: { cache?: boolean; clock?: Stopwatch } = {},
): Made {
  const xuudb = startXuudb(USERS);
  const { address } = xuudb;
  const source = new XuudbSource({
    name: "XUUDB",
    form,
    address,
    gcid: SITE,
    cache,
    http: LOOPBACK_HTTP,
    log: SILENT,
    clock,
    elapsed: clock,
  });
  return {
    xuudb,
    source,
    [Symbol.asyncDispose]: async () => {
      source.close();
      await xuudb[Symbol.asyncDispose]();
    },
  };
}

for (const form of ["soap", "json"] as const) {
  const subject = `XuudbSource (${form})`;

  testAttributeSource({
    name: subject,
    create: () => Promise.resolve(make(form)),
    configuredName: "XUUDB",
    known: ANN,
    knownOtherwise: identity("cn=ann  example,O=SITE-A,c=de"),
    attributes: attributeSet({ role: ["user"], xlogin: ["a1001", "a1002"], group: ["proj1", "proj2"] }),
    unknown: identity("CN=Eve"),
    createBroken: async () => {
      const made = make(form);
      await made.xuudb[Symbol.asyncDispose]();
      return { source: made.source, [Symbol.asyncDispose]: () => Promise.resolve() };
    },
  });

  Deno.test(`${subject} passes on names that need escaping`, async () => {
    await using made = make(form);
    const attributes = await made.source.attributesOf(identity("CN=R&D <1>, O=\\+x"), signal);
    assert.deepEqual(attributes, attributeSet({ xlogin: ["rd"] }));
  });

  Deno.test(`${subject} treats lists without values as absent`, async () => {
    await using made = make(form);
    assert.deepEqual(await made.source.attributesOf(identity("CN=Colons"), signal), NO_ATTRIBUTES);
  });

  Deno.test(`${subject} asks once in ten seconds, even about unknown users`, async () => {
    let now = 1000;
    await using made = make(form, { clock: () => now });
    for (const step of [0, 5000, 4999]) {
      now += step;
      await made.source.attributesOf(ANN, signal);
      await made.source.attributesOf(identity("CN=Eve"), signal);
      assert.equal(made.xuudb.requests.length, 2);
    }
    now += 1;
    await made.source.attributesOf(ANN, signal);
    assert.equal(made.xuudb.requests.length, 3);
  });

  Deno.test(`${subject} without a cache asks each time`, async () => {
    await using made = make(form, { cache: false });
    await made.source.attributesOf(ANN, signal);
    await made.source.attributesOf(ANN, signal);
    assert.equal(made.xuudb.requests.length, 2);
  });

  Deno.test(`${subject} asks once for all waiting callers, and answers the others when one gives up`, async () => {
    await using made = make(form, { cache: false });
    const held = Promise.withResolvers<void>();
    made.xuudb.hold = held.promise;
    const impatient = new AbortController();
    const first = made.source.attributesOf(ANN, impatient.signal);
    const others = [1, 2, 3].map(() => made.source.attributesOf(ANN, signal));
    impatient.abort(new Error("gave up"));
    await assert.rejects(first, /gave up/);
    held.resolve();
    for (const attributes of await Promise.all(others)) assert.equal(attributes.standard.size, 3);
    assert.equal(made.xuudb.requests.length, 1);
  });

  Deno.test(`${subject} leaves no unhandled rejection if only callers who have gone asked`, async () => {
    await using made = make(form);
    made.xuudb.reply = { status: 500, body: "{}" };
    await assert.rejects(made.source.attributesOf(ANN, AbortSignal.abort(new Error("gone"))), /gone/);
    // This answer comes after the first one; Deno fails the test if nobody handled the first failure.
    await assert.rejects(made.source.attributesOf(identity("CN=Eve"), signal), {
      code: "ERR_ATTRIBUTE_SOURCE",
    });
  });

  Deno.test(`${subject} does not cache failures`, async () => {
    await using made = make(form);
    made.xuudb.reply = { status: 500, body: "{}" };
    await assert.rejects(made.source.attributesOf(ANN, signal), {
      code: "ERR_ATTRIBUTE_SOURCE",
      status: 503,
    });
    made.xuudb.reply = undefined;
    assert.equal((await made.source.attributesOf(ANN, signal)).standard.size, 3);
  });
}

const OF_RECORD: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "CN=Ann Example, O=Site-A, C=DE": { role: ["user"], xlogin: ["a1001", "a1002"], group: ["proj1", "proj2"] },
  "cn=ann  example,O=SITE-A,c=de": { role: ["user"], xlogin: ["a1001", "a1002"], group: ["proj1", "proj2"] },
  "CN=Ben": { role: ["user"], xlogin: ["ben"] },
  "CN=R&D <1>, O=\\+x": { role: ["banned"], xlogin: ["rd"], group: ["games"] },
  "CN=Jürgen": { role: ["admin"], xlogin: ["jue"] },
  "CN=Eve": {},
};

for (const { form, dn, status, body } of ANSWERS) {
  Deno.test(`XuudbSource (${form}) reads the answer of a real XUUDB about ${dn}`, async () => {
    await using made = make(form === "soap" ? "soap" : "json", { cache: false });
    made.xuudb.reply = { status, body };
    const attributes = await made.source.attributesOf(identity(dn), signal);
    assert.deepEqual(attributes, attributeSet(OF_RECORD[dn] ?? assert.fail(`no record of ${dn}`)));
  });
}

const ENVELOPE = (inside: string) => `<e:Envelope xmlns:e="x"><e:Body>${inside}</e:Body></e:Envelope>`;

/** Bodies with status 200 that are not answers. The source must not read any as "unknown user". */
const UNREADABLE = {
  json: [
    "",
    "null",
    "[]",
    '"x"',
    "{",
    '{"xlogin": 5}',
    '{"role": ["user"]}',
    '{"projects": {}}',
    "<html/>",
  ],
  soap: [
    "",
    "{}",
    "<html/>",
    "<CheckDNResponse/>",
    ENVELOPE(""),
    ENVELOPE("<Fault/>"),
    ENVELOPE("<CheckCertificateResponse/>"),
    ENVELOPE("<CheckDNResponse>"),
    `<!DOCTYPE x>${ENVELOPE("<CheckDNResponse/>")}`,
  ],
};

for (const form of ["soap", "json"] as const) {
  Deno.test(`XuudbSource (${form}) fails on an answer it does not understand`, async () => {
    await using made = make(form, { cache: false });
    for (const body of UNREADABLE[form]) {
      made.xuudb.reply = { status: 200, body };
      await assert.rejects(
        made.source.attributesOf(ANN, signal),
        { code: "ERR_ATTRIBUTE_SOURCE", message: "Attribute source XUUDB: not understood" },
        body,
      );
    }
    for (const status of [201, 401, 403, 404, 500]) {
      made.xuudb.reply = { status, body: "{}" };
      await assert.rejects(made.source.attributesOf(ANN, signal), { status: 503 });
    }
  });
}

Deno.test("XuudbSource (json) refuses a user with a value that looks like another one", async () => {
  await using made = make("json", { cache: false });
  for (const body of ['{"role": "banned\u00a0"}', '{"xlogin": " ann"}', '{"projects": "a:b\u200b"}']) {
    made.xuudb.reply = { status: 200, body };
    await assert.rejects(made.source.attributesOf(ANN, signal), { code: "ERR_USER_ATTRIBUTE" }, body);
  }
});

Deno.test("XuudbSource (json) treats null as absent and ignores other members", async () => {
  await using made = make("json", { cache: false });
  made.xuudb.reply = { status: 200, body: '{"xlogin": null, "role": "user", "__proto__": 5, "more": [1]}' };
  assert.deepEqual(await made.source.attributesOf(ANN, signal), attributeSet({ role: ["user"] }));
});

/** Returns a source with an HTTP client of the test. */
function sourceOver(http: OutgoingHttp, { cache = false, elapsed = (): number => 0 } = {}): XuudbSource {
  return new XuudbSource({
    name: "X",
    form: "json",
    address: "https://x:1",
    gcid: "G",
    cache,
    http,
    log: SILENT,
    clock: () => 0,
    elapsed,
  });
}

Deno.test("XuudbSource caches at most a hundred answers", async () => {
  const asked: string[] = [];
  const http: OutgoingHttp = {
    send: ({ url }) => {
      asked.push(url);
      return Promise.resolve({ status: 200, headers: {}, body: "{}" });
    },
  };
  const source = sourceOver(http, { cache: true });
  const ask = (i: number) => source.attributesOf(identity(`CN=${i}`), signal);
  for (let i = 0; i <= 100; i++) await ask(i);
  assert.equal(asked[0], "https://x:1/rest/xuudb/query/G?dn=CN%3D0");
  await ask(60);
  assert.equal(asked.length, 101);
  await ask(0);
  assert.equal(asked.length, 102);
});

Deno.test("XuudbSource stops asking an unreachable XUUDB, and asks it again after a second", async () => {
  let [now, asked, up] = [0, 0, false];
  const http: OutgoingHttp = {
    send: () => {
      asked++;
      return up
        ? Promise.resolve({ status: 200, headers: {}, body: '{"role": "user"}' })
        : Promise.reject(new RemoteUnavailable("x:1", "connection refused"));
    },
  };
  const source = sourceOver(http, { elapsed: () => now });
  const ask = (name: string) => source.attributesOf(identity(name), signal);
  for (const name of ["CN=Ann", "CN=Bob", "CN=Carl"]) {
    await assert.rejects(ask(name), {
      code: "ERR_ATTRIBUTE_SOURCE",
      message: "Attribute source X: the XUUDB cannot be reached",
    });
  }
  assert.equal(asked, 1);
  up = true;
  now += 1000;
  assert.deepEqual(await ask("CN=Bob"), attributeSet({ role: ["user"] }));
  assert.deepEqual(await ask("CN=Ann"), attributeSet({ role: ["user"] }));
});

Deno.test("XuudbSource stops asking an XUUDB whose answers it does not understand", async () => {
  let asked = 0;
  const http: OutgoingHttp = {
    send: () => {
      asked++;
      return Promise.resolve({ status: 200, headers: {}, body: "a page" });
    },
  };
  const source = sourceOver(http);
  for (const name of ["CN=Ann", "CN=Bob", "CN=Carl", "CN=Ann", "CN=Bob"]) {
    await assert.rejects(source.attributesOf(identity(name), signal), { code: "ERR_ATTRIBUTE_SOURCE" });
  }
  assert.equal(asked, 3);
});

Deno.test("XuudbSource keeps asking about others while it does not understand one user's record", async () => {
  await using made = make("json", { cache: false });
  for (let i = 0; i < 10; i++) {
    made.xuudb.reply = { status: 200, body: '{"xlogin": 5}' };
    await assert.rejects(made.source.attributesOf(identity("CN=Eve"), signal), {
      code: "ERR_ATTRIBUTE_SOURCE",
    });
    made.xuudb.reply = undefined;
    await made.source.attributesOf(ANN, signal);
  }
});
