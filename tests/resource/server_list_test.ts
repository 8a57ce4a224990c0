import assert from "node:assert/strict";
import type { UserAttributes } from "../../src/attributes/user_attributes.ts";
import type { GroupStatus } from "../../src/daemon/daemon_group.ts";
import { SILENT } from "../../src/logging/logger.ts";
import type { Call } from "../../src/resource/call.ts";
import type { ServerFacts } from "../../src/resource/server_facts.ts";
import { serverDetail, serverList } from "../../src/resource/server_list.ts";
import { type ServiceFacts, ServiceSection } from "../../src/resource/service_section.ts";
import { statusPage } from "../../src/pages/status_page.ts";
import { requestedServer } from "../../src/resource/requested_server.ts";
import { HeaderList } from "../../src/model/header_list.ts";

const NOBODY = () => Promise.reject(new TypeError("nobody is asked"));

/** A server of two instances. */
function server(name: string, { up, sharing = false }: { up: boolean; sharing?: boolean }): ServerFacts {
  const instances = [1, 2].map((instance) => ({ instance, address: `h${instance}:1`, up }));
  const status: GroupStatus = {
    usable: up,
    worthTrying: up,
    unchecked: false,
    total: 2,
    available: up ? 2 : 0,
    instances,
  };
  return {
    name,
    description: `Server ${name}`,
    sharing,
    daemons: {
      name,
      description: "",
      size: 2,
      status: () => status,
      openSession: NOBODY,
      userInfo: NOBODY,
      close: () => Promise.resolve(),
    },
    reservations: { limitFor: () => 0, descriptionsFor: () => [], list: () => [] },
  };
}

const FACTS: ServiceFacts = {
  siteName: "Site",
  version: "1.2.3",
  upSince: 0,
  credential: () => undefined,
  trustedCAs: () => [],
  trustedSAMLIssuers: () => [],
  externalConnections: () => ({}),
  supposedUrl: undefined,
  together: undefined,
  clock: () => Date.UTC(2026, 0, 5),
};

const serversOf = (...all: readonly ServerFacts[]) => new Map(all.map((one) => [one.name, one]));

const USER: UserAttributes = {
  role: "anonymous",
  availableRoles: [],
  availableUids: [],
  availableGroups: [],
  supplementaryGroups: [],
  availableQueues: [],
  extra: new Map(),
};

/** What nobody in particular asks. */
function call(segment?: string, servers: ReadonlyMap<string, ServerFacts> = new Map()): Call {
  return {
    request: {
      method: "GET",
      path: "/rest/auth",
      query: "",
      headers: new HeaderList([]),
      client: { address: "192.0.2.1" },
      body: null,
    },
    params: new Map(),
    ...(segment !== undefined && { server: requestedServer(segment, servers) }),
    query: new URLSearchParams(),
    caller: { kind: "anonymous" },
    user: USER,
    clientAddress: "192.0.2.1",
    base: "https://h",
    root: "../",
    recognise: () => Promise.reject(new Error("nobody shows other credentials")),
    audit: () => {},
    requestId: "1",
    log: SILENT,
    signal: new AbortController().signal,
  };
}

Deno.test("serverList() is indented by two blanks, and says of each server whether files are shared", () => {
  const servers = serversOf(server("AA", { up: true, sharing: true }), server("B", { up: false }));
  const content = String(serverList(call(), servers, new ServiceSection(FACTS)).body);
  const { AA: A, B } = JSON.parse(content);
  assert.deepEqual(A.dataSharing, { enabled: true, href: "https://h/rest/share/AA" });
  assert.deepEqual(B.dataSharing, { enabled: false });
  assert.deepEqual([A.status.slice(0, 3), B.status.slice(0, 5)], ["OK ", "DOWN "]);
  // Stock clients read JSON, people read it with curl: the parts that are made apart are indented alike.
  assert.equal(content, JSON.stringify(JSON.parse(content), undefined, 2));
});

Deno.test("serverDetail() knows a server and its instances by number, and no others", () => {
  const servers = serversOf(server("AA", { up: true }));
  const detail = (name: string) => String(serverDetail(call(name, servers)).body);
  for (const name of ["AA", "AA-1", "AA-2"]) {
    const content = detail(name);
    assert.equal(JSON.parse(content).href, "https://h/rest/auth/AA");
    assert.equal(content, JSON.stringify(JSON.parse(content), undefined, 2));
  }
  for (const name of ["AA-0", "AA-3", "BB", "BB-1", ""]) {
    assert.throws(() => detail(name), { code: "ERR_UNKNOWN_SERVER" }, name);
  }
});

const STATES: readonly (readonly [readonly boolean[], string])[] = [
  [[true, true], "All transfer servers are up."],
  [[true, false], "1 of 2 transfer servers are up."],
  [[false, false], "No transfer server is up."],
];
for (const [states, text] of STATES) {
  Deno.test(`statusPage() says "${text}" of ${states}, and of each server whether it is up`, async () => {
    const servers = serversOf(...states.map((up, i) => server(`S${i}`, { up })));
    const page = String(
      (await statusPage(call(), {
        servers,
        facts: FACTS,
        sharing: undefined,
        canSignIn: true,
        hasAdminPage: false,
      })).body,
    );
    assert(page.includes(text));
    const shown = [...page.matchAll(/<p class="state (up|down)">(Up|Down)<\/p>/g)];
    assert.deepEqual(shown.map(([, style]) => style === "up"), states);
    assert.deepEqual(shown.map(([, , word]) => word === "Up"), states);
  });
}

Deno.test("statusPage() tells whom it knows until when, and the paths that are allowed, one by one", async () => {
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
    },
  };
  const { body } = await statusPage(known, {
    servers,
    facts: FACTS,
    sharing: undefined,
    canSignIn: true,
    hasAdminPage: false,
  });
  const page = String(body);
  assert.match(page, /2026-01-05/);
  assert.match(page, /in 7 hours|in 8 hours|07:30/);
  assert.match(page, /<dd><code>\/home\/ann\/\*<\/code>, <code>\/data\/\*<\/code><\/dd>/);
});
