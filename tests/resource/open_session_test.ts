import assert from "node:assert/strict";
import type { SessionRequest } from "../../src/daemon/daemon_group.ts";
import { createLogger } from "../../src/logging/logger.ts";
import { Secret } from "../../src/model/secret.ts";
import { isHttpError } from "../../src/model/http_error.ts";
import { NameService } from "../../src/outgoing/name_service.ts";
import { openSession } from "../../src/resource/open_session.ts";
import { call, server, serversOf, USER } from "./sample_call.ts";

const ANN = { ...USER, role: "user", uid: "ann", group: "hpc" };

/** Requests a session. @returns The answer, the request to the daemon, and the log. */
async function asked(body: object, { names, up = true, segment = "HPC" }: {
  readonly names?: NameService;
  readonly up?: boolean;
  readonly segment?: string;
} = {}) {
  const orders: (SessionRequest & { readonly instance: number | undefined })[] = [];
  const lines: string[] = [];
  const facts = server("HPC", { up });
  const daemons: typeof facts.daemons = {
    ...facts.daemons,
    openSession(order, { instance }) {
      orders.push({ ...order, instance });
      return Promise.resolve({ host: "hpc.example.org", port: 64434, instance: 1, secret: new Secret("s3") });
    },
  };
  const base = call(segment, serversOf({ ...facts, daemons }));
  const answer = await openSession({
    ...base,
    user: ANN,
    request: { ...base.request, method: "POST", body: new TextEncoder().encode(JSON.stringify(body)) },
    log: createLogger((line) => lines.push(line)),
  }, names);
  const [order] = orders;
  assert(order !== undefined && orders.length === 1);
  return { answer, order, lines };
}

Deno.test("openSession() requests a session for the caller's account, and returns where to connect", async () => {
  const { answer, order, lines } = await asked({ serverPath: "" });
  assert.deepEqual([answer.status, JSON.parse(String(answer.body))], [200, {
    success: true,
    reason: "",
    serverHost: "hpc.example.org",
    serverPort: 64434,
    secret: "s3",
  }]);
  assert.deepEqual([order.user, order.group, order.clientAddresses, order.instance], [
    "ann",
    "hpc",
    ["192.0.2.1"],
    undefined,
  ]);
  assert.deepEqual(lines, []);
  assert.equal((await asked({ serverPath: "" }, { segment: "HPC-2" })).order.instance, 2);
});

const NAMES = new NameService({
  ask: (name, type) =>
    type === "A" && name === "login.example.org"
      ? Promise.resolve(["192.0.2.7", "192.0.2.8"])
      : Promise.reject(new Deno.errors.NotFound()),
});
const SIXTEEN = Array.from({ length: 16 }, (_, i) => `198.51.100.${i}`);

const CLIENTS: readonly (readonly [
  client: string,
  names: NameService | undefined,
  addresses: readonly string[],
  log: RegExp,
])[] = [
  ["198.51.100.1", undefined, ["198.51.100.1"], /^$/],
  ["198.51.100.1 2001:DB8::1 198.51.100.1", undefined, ["198.51.100.1", "2001:db8::1"], /^$/],
  ["login.example.org", undefined, ["192.0.2.1"], /names of hosts in client are not looked up dropped=1$/],
  ["a.example.org b.example.org 198.51.100.1", undefined, ["198.51.100.1"], /are not looked up dropped=2$/],
  ["login.example.org", NAMES, ["192.0.2.7", "192.0.2.8"], /^$/],
  [
    "none.example.org 198.51.100.1 login.example.org",
    NAMES,
    ["198.51.100.1", "192.0.2.7", "192.0.2.8"],
    /names of hosts in client have no address dropped=1$/,
  ],
  ["none.example.org", NAMES, ["192.0.2.1"], /have no address dropped=1$/],
  [SIXTEEN.join(" "), undefined, SIXTEEN, /^$/],
  [
    [...SIXTEEN.slice(1), "login.example.org"].join(" "),
    NAMES,
    [...SIXTEEN.slice(1), "192.0.2.7"],
    /^$/,
  ],
];
for (const [client, names, addresses, log] of CLIENTS) {
  Deno.test(`openSession() for ${client.slice(0, 50)}${names === undefined ? "" : ", looked up"}`, async () => {
    const { order, lines } = await asked({ serverPath: "", client }, { names });
    assert.deepEqual(order.clientAddresses, addresses);
    assert.match(lines.join("\n"), log);
  });
}

Deno.test("openSession() refuses more than sixteen addresses", async () => {
  const client = [...SIXTEEN, "198.51.100.16"].join(" ");
  await assert.rejects(
    asked({ serverPath: "", client }),
    (error) => isHttpError(error, "ERR_INVALID_REQUEST") && /at most 16 addresses/.test(error.publicMessage),
  );
});

Deno.test("openSession() does not try a server without a working daemon, unless the request numbers one", async () => {
  await assert.rejects(asked({ serverPath: "" }, { up: false }), { code: "ERR_SERVER_DOWN" });
  assert.equal((await asked({ serverPath: "" }, { up: false, segment: "HPC-1" })).order.instance, 1);
});
