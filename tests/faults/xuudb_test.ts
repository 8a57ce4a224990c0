/** An XUUDB that hangs, lies, closes or fails: users who need it get 503 until it works again. */
import assert from "node:assert/strict";
import { type Answer, startHttpsServer } from "../identity_provider/https_server.ts";
import { createAuthority } from "../pki/authority.ts";
import { ALICE, passwordLine, runService } from "../system/running_service.ts";
import { LONG } from "../long/results.ts";
import { causeIn, note, within } from "./fault_table.ts";
import { LEFT_ALONE_MS, PROVIDER_FAULTS, SHORT_TIMES } from "./provider_fault.ts";

const SECTION = "XUUDB";
/** User who is not in the map file. */
const DORA = ["dora", "explorer-3"] as const;
const DORA_DN = "CN=Dora,O=Demo,C=EU";
const POST = { as: DORA, body: { serverPath: "" } };

const json = (text: string): Answer => (_, response) =>
  response.writeHead(200, { "Content-Type": "application/json" }).end(text);
const xml = (text: string): Answer => (_, response) =>
  response.writeHead(200, { "Content-Type": "text/xml" }).end(text);
const envelope = (body: string) =>
  `<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>${body}</soap:Body></soap:Envelope>`;
const response = (members: string) =>
  envelope(
    `<x:CheckDNResponse xmlns:x="http://www.fz-juelich.de/unicore/xuudb">${members}</x:CheckDNResponse>`,
  );

const FORMS = {
  XUUDBJSONAttributeSource: json('{"xlogin":"alice","role":"user"}'),
  XUUDBAttributeSource: xml(response("<x:xlogin>alice</x:xlogin><x:role>user</x:role>")),
} as const;

interface Fault {
  readonly what: string;
  readonly answer: Answer;
  readonly form?: keyof typeof FORMS;
  /** Status and code of a session; default 503. */
  readonly session?: readonly [number, string];
}

const FAULTS: readonly Fault[] = [
  ...PROVIDER_FAULTS,
  { what: "answers SOAP with a fault", form: "XUUDBAttributeSource", answer: xml(envelope("<soap:Fault/>")) },
  { what: "answers SOAP with a page", form: "XUUDBAttributeSource", answer: xml("<html>Sign in</html>") },
  {
    what: "answers SOAP with half a message",
    form: "XUUDBAttributeSource",
    answer: xml(response("<x:role>user").slice(0, -40)),
  },
  { what: "answers with numbers instead of names", answer: json('{"xlogin":0,"role":"user"}') },
  {
    what: "returns the account root",
    answer: json('{"xlogin":"root","role":"user"}'),
    session: [403, "ERR_ACCOUNT_REFUSED"],
  },
  {
    what: "returns an account with a line break",
    answer: json('{"xlogin":"alice\\nuser=root","role":"user"}'),
    session: [500, "ERR_USER_ATTRIBUTE"],
  },
  { what: "returns the role banned", answer: json('{"role":"banned"}'), session: [403, "ERR_FORBIDDEN"] },
];

const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const shown = authority.issue({ subject: "CN=xuudb", names: ["localhost"] });

/** Start of the last service: services start one after the other, since all at once overload the machine. */
let started: Promise<unknown> = Promise.resolve();

const AT = "container.security.attributes";
const sourceOf = (port: number, form: keyof typeof FORMS) => ({
  [`${AT}.XUUDB.class`]: `eu.unicore.services.aip.xuudb.${form}`,
  [`${AT}.XUUDB.xuudbPort`]: String(port),
});

async function start(port: number, form: keyof typeof FORMS) {
  const next = started.then(() =>
    runService({
      authority,
      servers: { HPC: [{ maxSessions: 1000 }] },
      passwords: passwordLine(ALICE, "CN=Alice,O=Demo,C=EU") + passwordLine(DORA, DORA_DN),
      properties: {
        [`${AT}.order`]: "FILE XUUDB",
        [`${AT}.combiningPolicy`]: "FIRST_APPLICABLE",
        ...sourceOf(port, form),
        [`${AT}.XUUDB.xuudbHost`]: "https://localhost",
        [`${AT}.XUUDB.xuudbGCID`]: "SITE-A",
        ...SHORT_TIMES,
      },
    })
  );
  started = next.catch(() => {});
  return await next;
}

/** Service that all faults share, except in long runs. */
let shared: ReturnType<typeof start> | undefined;
Deno.test.afterAll(async () => await (await shared)?.[Symbol.asyncDispose]());

/** Directs the shared service to another XUUDB, and reloads it so that its core knows no earlier XUUDB. */
async function directed(port: number, form: keyof typeof FORMS) {
  if (shared === undefined) return await (shared = start(port, form));
  const system = await shared;
  const values = Object.entries(sourceOf(port, form));
  const lines = (await Deno.readTextFile(system.main)).split("\n")
    .filter((line) => !values.some(([key]) => line.startsWith(`${key}=`)));
  const text = [...lines, ...values.map(([key, value]) => `${key}=${value}`), ""].join("\n");
  await system.replace("conf/container.properties", text);
  await system.service.reload();
  return system;
}

async function outcome(fault: Fault) {
  const { answer, form = "XUUDBJSONAttributeSource" } = fault;
  let lie: Answer | undefined = answer;
  await using xuudb = await startHttpsServer(
    shown,
    (request, response) => (lie ?? FORMS[form])(request, response),
  );
  await using own = LONG ? await start(xuudb.port, form) : undefined;
  const system = own ?? await directed(xuudb.port, form);
  const began = performance.now();
  const asking = system.ask("/rest/auth/HPC", POST);
  const others = await Promise.all([
    system.ask("/rest/auth"),
    system.ask("/rest/auth/HPC", { ...POST, as: ALICE }),
  ]);
  const reply = await asking;
  const took = performance.now() - began;
  const line = await system.logged(new RegExp(`request answered.*request=${reply.json().requestId}`));
  lie = undefined;
  let after = "asked again within a minute";
  if (LONG) {
    const mended = performance.now();
    while ((await system.ask("/rest/auth/HPC", POST)).status !== 200) {
      assert(performance.now() - mended < LEFT_ALONE_MS, "not used again");
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    after = `recovers ${within(performance.now() - mended)} after the fault`;
  }
  return { reply, others, took, line, after, requests: system.daemon().requests };
}

let before: Promise<unknown> = Promise.resolve();
const outcomes = FAULTS.map((fault) => {
  if (LONG) return outcome(fault); // all faults at once
  const next = before.then(() => outcome(fault));
  before = next.catch(() => {});
  return next;
});
for (const outcome of outcomes) outcome.catch(() => {}); // tests await them

for (const [i, { what, session = [503, "ERR_ATTRIBUTE_SOURCE"] }] of FAULTS.entries()) {
  Deno.test(`an XUUDB that ${what} fails only requests of its own users`, async () => {
    const found = await outcomes[i];
    assert(found);
    const { reply, others, took, line, after, requests } = found;
    const { code, errorMessage } = reply.json();
    assert.deepEqual([reply.status, code], session, reply.text);
    assert(!/localhost|:\d{4,5}|root/.test(String(errorMessage)), "nothing of addresses and accounts");
    assert.deepEqual(others.map(({ status }) => status), [200, 200]);
    assert(took < 30_000, `it took ${took} ms: longer than a wait of 10 s on a busy machine`);
    assert(!requests.some(({ values }) => values?.get("user")?.includes("root")));
    note({
      section: SECTION,
      fault: `the XUUDB ${what}`,
      caller: `${reply.status} \`${code}\` for users of no other source`,
      log: `\`request answered\`, ${causeIn(line)}`,
      after: `users of the map file and anonymous callers unaffected; ${after}`,
    });
  });
}

Deno.test("no core dies when users of an XUUDB that is down disconnect at once", async () => {
  await using xuudb = await startHttpsServer(shown, (_, response) => response.destroy());
  const system = await directed(xuudb.port, "XUUDBJSONAttributeSource");
  const gone = Array.from({ length: 60 }, async (_, i) => {
    const socket = await Deno.connectTls({
      hostname: "localhost",
      port: system.port,
      caCerts: [authority.certificate],
    });
    const credentials = btoa(DORA.join(":"));
    const head = `GET /rest/auth HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic ${credentials}\r\n\r\n`;
    await socket.write(new TextEncoder().encode(head));
    // The pauses reach from before the request gets to the core until after the core asked the XUUDB.
    await new Promise((resolve) => setTimeout(resolve, i % 6));
    socket.close();
  });
  await Promise.all(gone);
  assert.equal((await system.ask("/rest/auth/HPC", POST)).status, 503);
  assert.deepEqual(system.log.filter((line) => /core died|unhandled/.test(line)), []);
});
