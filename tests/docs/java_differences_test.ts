import assert from "node:assert/strict";
import { cp } from "node:fs/promises";
import { mountService } from "../../src/service/mount.ts";
import { parseShareFields } from "../../src/resource/share/share_fields.ts";
import { HttpError } from "../../src/model/http_error.ts";

const FIXTURE = new URL("../fixtures/java_installation/variant_a", import.meta.url);
const BASE = "https://auth.example.org:9000";
const ANN: readonly [string, string] = ["Authorization", `Basic ${btoa("ann:test123")}`];

/** Rows of the guide's table of decisions that callers notice: request, and status of the answer. */
const ANSWERS: readonly (readonly [
  what: string,
  path: string,
  headers: readonly (readonly [string, string])[],
  status: number,
])[] = [
  ["an unknown key of preferences", "/rest/auth", [ANN, ["X-UNICORE-User-Preferences", "rol:user"]], 400],
  [
    "a comma at the end of preferences",
    "/rest/auth",
    [ANN, ["X-UNICORE-User-Preferences", "role:user,"]],
    200,
  ],
  ["an unknown parameter", "/rest/auth?colour=red", [ANN], 200],
  ["two headers Authorization", "/rest/auth", [ANN, ANN], 401],
  ["path parameters", "/rest/auth;a=b", [ANN], 404],
  ["a lifetime with a leading zero", "/rest/auth/token?lifetime=060", [ANN], 400],
  ["a fractional lifetime", "/rest/auth/token?lifetime=12.5", [ANN], 400],
];

Deno.test("the guide's table of decisions states the answers to requests", async () => {
  const folder = await Deno.makeTempDir({ prefix: "authserver-differences-" });
  await cp(FIXTURE, folder, { recursive: true });
  const service = await mountService({
    configuration: "conf/container.properties",
    workingDirectory: folder,
    log: () => {},
  });
  try {
    for (const [what, path, headers, status] of ANSWERS) {
      const request = new Request(`${BASE}${path}`, {
        headers: [
          ["Accept", "*/*"],
          ...headers.map(([name, value]): [string, string] => [name, value]),
        ],
      });
      const response = await service.handle(request, { address: "127.0.0.1" });
      await response.body?.cancel();
      assert.equal(response.status, status, what);
    }
  } finally {
    await service.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("the guide's table of decisions states how members of a share are read", () => {
  const share = { path: "/a", user: "CN=Bob" };
  assert.equal(parseShareFields({ ...share, lifetime: "060" }).lifetime, 60);
  assert.throws(() => parseShareFields({ ...share, lifetime: "12.5" }), HttpError);
  assert.throws(() => parseShareFields({ ...share, onetime: 1 }), HttpError);
  assert.throws(() => parseShareFields({ ...share, onetime: "yes" }), HttpError);
});
