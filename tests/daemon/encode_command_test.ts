import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { SessionRequest } from "../../src/daemon/daemon_group.ts";
import { createSecret, encodePing, encodeSession, encodeUserInfo } from "../../src/daemon/encode_command.ts";
import { canonicalAddress } from "../../src/model/address.ts";
import { Secret } from "../../src/model/secret.ts";
import { parseRequest } from "../daemon_simulator/request_parser.ts";
import { CHARACTER, PRINTABLE } from "../fixtures/character.ts";
import { fuzz } from "../fuzz/fuzz.ts";

import fc from "fast-check";
import { ORDER } from "./setting.ts";
import { isHttpError } from "../../src/model/http_error.ts";

const SECRET = new Secret("abcdefghijklmnopqrstuvwx");

/** Parses a request as the daemon does. */
function read(request: string): Record<string, string> {
  const parsed = parseRequest(request);
  assert(parsed.kind === "complete", parsed.kind);
  return Object.fromEntries(parsed.values);
}

function encode(change: Partial<SessionRequest>): string {
  return encodeSession({ ...ORDER, ...change }, SECRET);
}

Deno.test("encodePing(), encodeUserInfo() and encodeSession() write requests that end with END", () => {
  assert.equal(encodePing(), "request-type=uftp-ping-request\nEND\n");
  assert.equal(encodeUserInfo("alice"), "request-type=uftp-get-user-info-request\nuser=alice\nEND\n");
  assert.equal(
    encode({}),
    `request-type=uftp-transfer-request
client-ip=192.0.2.7,::ffff:192.0.2.7
user=alice
secret=abcdefghijklmnopqrstuvwx
persistent=false
file=/data/
streams=1
compress=false
access-permissions=FULL
END
`,
  );
});

Deno.test("encodeSession() writes every field of an order", () => {
  const key = Buffer.alloc(32, 7).toString("base64");
  const request = encode({
    clientAddresses: ["192.0.2.7", "2001:DB8:0::1", "::ffff:192.0.2.7"],
    group: "hpc",
    file: "/data/Ünï cödé = /",
    permission: "READ",
    persistent: true,
    streams: 4,
    compress: true,
    encryption: { key: new Secret(key), algorithm: "AES" },
    rateLimit: 10485760,
    includes: "*.txt:/data/Ünï cödé = /a",
    excludes: "secret/*",
  });
  assert.deepEqual(read(request), {
    "request-type": "uftp-transfer-request",
    "client-ip": "192.0.2.7,::ffff:192.0.2.7,2001:db8::1",
    user: "alice",
    secret: SECRET.reveal(),
    persistent: "true",
    file: "/data/Ünï cödé = /",
    streams: "4",
    compress: "true",
    group: "hpc",
    rateLimit: "10485760",
    key,
    algo: "AES",
    includes: "*.txt:/data/Ünï cödé = /a",
    excludes: "secret/*",
    "access-permissions": "READ",
  });
});

const base64 = (length: number) => new Secret(Buffer.alloc(length, 5).toString("base64"));

Deno.test("encodeSession() accepts values at the limit", () => {
  const good: Partial<SessionRequest>[] = [
    { file: "" },
    { file: "/" },
    { file: "sub/" },
    { file: "./" },
    { file: "/a/../b/" },
    { file: `/${"x".repeat(4096 - "file=".length - 2)}/` },
    { file: "/ leading and trailing /" },
    { file: "/😀/" },
    { user: "a" },
    { user: "_svc.x-1@site" },
    { user: "machine$" },
    { group: "NONE" },
    { group: "DEFAULT_GID" },
    { group: "games:users" },
    { streams: 9007199254740991 },
    { rateLimit: 1 },
    { includes: "", excludes: "" },
    { includes: "/data/*:a/b:./c:*" },
    { includes: " /data/x : y ".trim() },
    { includes: "/data*" },
    { includes: "/elsewhere/*", file: "" },
    { includes: "/elsewhere/*", file: "/" },
    { includes: "/elsewhere/*", file: "sub/" },
    { includes: "x/../../data/a" },
    ...[32, 40, 48].map((n) => ({ encryption: { key: base64(n), algorithm: "AES" as const } })),
    ...[4, 5, 16, 56].map((n) => ({ encryption: { key: base64(n), algorithm: "BLOWFISH" as const } })),
  ];
  for (const change of good) {
    assert.match(encode(change), /^request-type=.*\nEND\n$/s, JSON.stringify(change));
  }
});

Deno.test("encodeSession() refuses values over the limit, names the field and never shows the value", () => {
  const bad: [string, Partial<Record<keyof SessionRequest, unknown>>][] = [
    ...[
      "",
      "root",
      "toor",
      "0",
      "00",
      "-x",
      ".x",
      "a b",
      "a:b",
      "a/b",
      "a'b",
      "a$b",
      "é",
      "a\n",
      " a",
      "x".repeat(65),
    ]
      .map((user): [string, { user: string }] => ["user", { user }]),
    ...["", "a:", ":b", "a::b", "a:-b", "users,wheel", "a b", "a\rb", "-1"]
      .map((group): [string, { group: string }] => ["group", { group }]),
    ...[
      [],
      ["localhost"],
      ["192.0.2.7", "host"],
      ["192.0.2.0/24"],
      ["[::1]"],
      ["fe80::1%eth0"],
      ["*"],
      [""],
      ["1.2.3.4,::"],
    ]
      .map((
        clientAddresses,
      ): [string, { clientAddresses: string[] }] => ["clientAddresses", { clientAddresses }]),
    ["clientAddresses", {
      clientAddresses: Array.from({ length: 300 }, (_, i) => `10.0.${i >> 8}.${i & 255}`),
    }],
    ...[
      "/data",
      "name",
      " /data/",
      "\u00a0/data/",
      "\ufeff/data/",
      "/da\nta/",
      "/da\rta/",
      "/da\0ta/",
      "/da\tta/",
      "/da\u0085ta/",
      "/da\u2028ta/",
      "/da\u2029ta/",
      "/da\u007fta/",
      "/da\ud800ta/",
      "/data/\n",
      "/data/\rEND/",
      `/${"x".repeat(4096 - "file=".length - 1)}/`,
    ].map((file): [string, { file: string }] => ["file", { file }]),
    ...[0, -1, 1.5, NaN, Infinity, 1e21, 2 ** 53].map((
      streams,
    ): [string, { streams: number }] => ["streams", { streams }]),
    ...[-1, 0.5, NaN, Infinity, 2 ** 53, 1e300]
      .map((rateLimit): [string, { rateLimit: number }] => ["rateLimit", { rateLimit }]),
    ...[":", " ", ": :", "/elsewhere/*", "/data/a:/dat", "../x", "a/../../x", "a\nb", "/datb/*", "a:\u2028"]
      .flatMap((
        list,
      ): [string, Partial<SessionRequest>][] => [["includes", { includes: list }], ["excludes", {
        excludes: list,
      }]]),
    ["includes", { includes: "../x", file: "sub/" }],
    ["includes", { includes: "x".repeat(4090) }],
    ["permission", { permission: "read" }],
    ["permission", { permission: "" }],
    ["permission", { permission: "FULL\nuser=bob" }],
    ["persistent", { persistent: "true\nuser=bob" }],
    ["compress", { compress: "yes" }],
    ...[0, 16, 31, 33, 64].map((
      n,
    ): [string, Partial<SessionRequest>] => ["encryption", {
      encryption: { key: base64(n), algorithm: "AES" },
    }]),
    ...[0, 3, 57].map((
      n,
    ): [string, Partial<SessionRequest>] => ["encryption", {
      encryption: { key: base64(n), algorithm: "BLOWFISH" },
    }]),
    ...["AAAAAA", "AAAAAA=", "AAAA AAAA", "AAAAAA=\n", "!!!!", "AAAAAB==", "____"].map((
      text,
    ): [string, Partial<SessionRequest>] => [
      "encryption",
      { encryption: { key: new Secret(text), algorithm: "BLOWFISH" } },
    ]),
    ["encryption", { encryption: { key: base64(32), algorithm: "aes" } }],
  ];
  for (const [field, change] of bad) {
    // `Object.assign` keeps the static type, although the values may have other types.
    const order: SessionRequest = Object.assign({ ...ORDER }, change);
    assert.throws(
      () => encodeSession(order, SECRET),
      (error) => {
        assert(isHttpError(error, "ERR_INVALID_VALUE"), String(error));
        assert.equal(error.status, 400);
        assert.equal(error.publicMessage.startsWith(`Invalid value for ${field}: expected `), true);
        return true;
      },
      JSON.stringify(change),
    );
  }
  assert.throws(() => encodeSession(ORDER, new Secret("short")), { code: "ERR_INVALID_VALUE" });
  assert.throws(() => encodeSession(ORDER, new Secret("x".repeat(30) + "\nuser=bob")), {
    code: "ERR_INVALID_VALUE",
  });
});

Deno.test("encodeUserInfo() refuses names with further meaning for the daemon", () => {
  for (
    const user of [
      "root",
      "",
      "a\nuser=bob",
      "a\rrequest-type=uftp-transfer-request",
      "a b",
      `a${"b".repeat(8192)}`,
    ]
  ) {
    assert.throws(() => encodeUserInfo(user), { code: "ERR_INVALID_VALUE" }, user);
  }
});

/** Pieces of text that might have a meaning on the wire, and random text. */
const hostile = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: CHARACTER, maxLength: 8 }) },
  { weight: 3, arbitrary: fc.string({ unit: PRINTABLE, maxLength: 20 }) },
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      ..."\n|\r|\r\n|\0|\t|\v|\f|\u001c|\u001d|\u001e|\u001f|\u0085|\u00a0|\u2028|\u2029|\u200b|\u3000|\ufeff|\ud800|\udfff|😀|END|END\n|=|==|user=bob|\nuser=bob|\raccess-permissions=FULL|/|//|../|:|*| |  |root|alice|/data/|%0a|\\n|,|::1|192.0.2.7"
        .split("|"),
    ),
  },
  { weight: 1, arbitrary: fc.integer({ min: 4000, max: 8300 }).map((length) => "x".repeat(length)) },
);
const value = fc.array(hostile, { maxLength: 5 }).map((parts) => parts.join(""));
const account = fc.oneof(fc.constantFrom("alice", "bob$", "_x"), value);
const count = fc.oneof(fc.nat(100), fc.double(), fc.bigInt().map(Number));

const order = fc.record({
  user: account,
  group: fc.option(account, { nil: undefined }),
  clientAddresses: fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), value), { maxLength: 3 }),
  file: fc.oneof(fc.constantFrom("", "/data/"), value, value.map((text) => `/${text}/`)),
  permission: fc.constantFrom<SessionRequest["permission"]>("NONE", "INFO", "READ", "WRITE", "FULL"),
  persistent: fc.boolean(),
  streams: fc.oneof(fc.constant(1), count),
  compress: fc.boolean(),
  encryption: fc.option(
    fc.record({
      key: fc.oneof(fc.constantFrom(32, 40, 48).map(base64), value.map((text) => new Secret(text))),
      algorithm: fc.constantFrom<"AES" | "BLOWFISH">("AES", "BLOWFISH"),
    }),
    { nil: undefined },
  ),
  rateLimit: fc.oneof(fc.constant(0), count),
  includes: fc.option(value, { nil: undefined }),
  excludes: fc.option(value, { nil: undefined }),
});

/** Orders with one random field, so that the tests reach the rule of each field. */
const nearlyGood = fc.constantFrom(...Object.keys(ORDER), "group", "encryption", "includes", "excludes")
  .chain((field) => order.map((bad): SessionRequest => ({ ...ORDER, ...pick(bad, field) })));

function pick(from: SessionRequest, field: string): Partial<SessionRequest> {
  return Object.fromEntries(Object.entries(from).filter(([key]) => key === field));
}

/** Returns the values that the daemon should read, independently of the encoder. */
function meant(order: SessionRequest): Record<string, string> {
  const values: Record<string, string | undefined> = {
    "request-type": "uftp-transfer-request",
    user: order.user,
    secret: SECRET.reveal(),
    persistent: `${order.persistent}`,
    file: order.file,
    streams: `${order.streams}`,
    compress: `${order.compress}`,
    group: order.group,
    rateLimit: order.rateLimit === 0 ? undefined : `${order.rateLimit}`,
    key: order.encryption?.key.reveal(),
    algo: order.encryption?.algorithm,
    includes: order.includes || undefined,
    excludes: order.excludes || undefined,
    "access-permissions": order.permission,
  };
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, text]) => text === undefined ? [] : [[key, text]]),
  );
}

/** The daemon reads the intended values, or the encoder refuses the order. */
fuzz({
  name: "encodeSession(), read again by the daemon's rules,",
  input: fc.oneof(nearlyGood, order),
  parse: (order) => {
    const request = encodeSession(order, SECRET);
    for (const line of request.split("\n")) assert(line.length <= 4096);
    const { "client-ip": addresses, ...values } = read(request);
    assert.deepEqual(values, meant(order));
    assert.deepEqual(
      new Set(addresses?.split(",").map((address) => canonicalAddress(address))),
      new Set(order.clientAddresses.map((address) => canonicalAddress(address))),
    );
  },
  throws: ["ERR_INVALID_VALUE"],
  growth: { longest: 64 * 1024, input: (file) => ({ ...ORDER, file }) },
});

Deno.test("encodeUserInfo(): the daemon reads the intended value, or nothing is sent", () => {
  let sent = 0;
  fc.assert(
    fc.property(account, (user) => {
      let request: string;
      try {
        request = encodeUserInfo(user);
      } catch (error) {
        assert(isHttpError(error, "ERR_INVALID_VALUE"), String(error));
        return;
      }
      sent++;
      assert.deepEqual(read(request), { "request-type": "uftp-get-user-info-request", user });
    }),
    { numRuns: 5000 },
  );
  assert(sent > 500, `${sent} requests were sent`);
});

Deno.test("createSecret() returns 24 letters and digits, each equally likely", () => {
  const counts = new Map<string, number>();
  const seen = new Set<string>();
  const rounds = 10_000;
  for (let i = 0; i < rounds; i++) {
    const text = createSecret().reveal();
    assert.match(text, /^[A-Za-z0-9]{24}$/);
    seen.add(text);
    for (const letter of text) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  }
  assert.equal(seen.size, rounds);
  assert.equal(counts.size, 62);
  // The mean is 3871 and the standard deviation 62; without rejection the first 8 letters would occur 4687 times.
  for (const [letter, count] of counts) {
    assert(Math.abs(count - rounds * 24 / 62) < 450, `${letter}: ${count}`);
  }
});
