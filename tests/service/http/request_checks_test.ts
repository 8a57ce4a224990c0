import assert from "node:assert/strict";
import {
  checkHeaderLengths,
  checkOwnOrigin,
  checkQuery,
  HEADER_LIMITS,
  originOf,
} from "../../../src/service/http/request_checks.ts";
import { HeaderList } from "../../../src/model/http_message.ts";
import { isHttpError } from "../../../src/model/http_error.ts";
import type { GatewayConfig } from "../../../src/config/service_config.ts";
import { peerAddress } from "../../../src/model/address.ts";

/** Limits that callers may rely on. */
const LIMITS = {
  "Accept": 1024,
  "Access-Control-Request-Method": 32,
  "Authorization": 32768,
  "Content-Encoding": 64,
  "Content-Length": 32,
  "Content-Range": 256,
  "Content-Type": 256,
  "Cookie": 32768,
  "Host": 512,
  "If-Match": 2048,
  "If-Modified-Since": 64,
  "If-None-Match": 2048,
  "If-Range": 256,
  "If-Unmodified-Since": 64,
  "Origin": 512,
  "Range": 256,
  "Sec-Fetch-Site": 64,
};
Deno.test("HEADER_LIMITS has the limits that callers may rely on", () => {
  assert.deepEqual(Object.keys(LIMITS).map((name) => HEADER_LIMITS.get(name)), Object.values(LIMITS));
});

for (const [name, limit] of HEADER_LIMITS) {
  Deno.test(`checkHeaderLengths() accepts at most ${limit} characters of ${name}`, () => {
    checkHeaderLengths(new HeaderList([name, "x".repeat(limit)]));
    assert.throws(
      () => checkHeaderLengths(new HeaderList([name.toLowerCase(), "x".repeat(limit + 1)])),
      (error: unknown) => isHttpError(error, "ERR_HEADER_TOO_LONG") && error.publicMessage.includes(name),
    );
  });
}

Deno.test("every request header that the service reads has a limit", async () => {
  const read = /(?<!response\.headers)\.(?:get|has)\("([A-Z][A-Za-z-]+)"\)/g;
  const names = new Set<string>();
  for (const folder of ["service", "resource", "authentication", "attributes"]) {
    for await (const path of sources(new URL(`../../../src/${folder}`, import.meta.url).pathname)) {
      const source = await Deno.readTextFile(path);
      for (const [, name = ""] of source.matchAll(read)) names.add(name.toLowerCase());
    }
  }
  assert(names.has("accept") && names.has("range"), "the headers are not found any more");
  const limited = new Set([...HEADER_LIMITS.keys()].map((name) => name.toLowerCase()));
  assert.deepEqual([...names].filter((name) => !limited.has(name)), []);
});

async function* sources(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* sources(`${folder}/${name}`);
    else if (name.endsWith(".ts")) yield `${folder}/${name}`;
  }
}

const DECLARED = { lifetime: "integer", limited: "boolean", after: "string", path: "array" } as const;

for (const query of ["", "lifetime=1", "lifetime=100&limited=TRUE", "path=/a/&path=/b/", "after=%00"]) {
  Deno.test(`checkQuery() accepts "${query}"`, () => checkQuery(new URLSearchParams(query), DECLARED));
}

const refused: [string, RegExp][] = [
  ["lifetme=1", /unknown query parameter, expected lifetime, limited, after, path/],
  ["Limited=true", /unknown query parameter/],
  ["__proto__=1", /unknown query parameter/],
  ["lifetime=1&lifetime=1", /lifetime: expected once/],
  ["limited=true&limited=false", /limited: expected once/],
  ["after=&after=", /after: expected once/],
  ["lifetime=", /lifetime: expected a whole number from 1 to 9007199254740991/],
  ["lifetime=0", /lifetime/],
  ["lifetime=-1", /lifetime/],
  ["lifetime=1e1", /lifetime/],
  ["lifetime=%201", /lifetime/],
  ["lifetime=9999999999999999", /lifetime/],
  ["limited=", /limited: expected true or false/],
  ["limited=yes", /limited/],
];
for (const [query, expected] of refused) {
  Deno.test(`checkQuery() refuses "${query}"`, () => {
    assert.throws(() => checkQuery(new URLSearchParams(query), DECLARED), (error) => {
      assert(isHttpError(error, "ERR_INVALID_REQUEST"));
      assert.match(error.publicMessage, expected);
      return true;
    });
  });
}

Deno.test("checkQuery() accepts anything if nothing is declared", () => {
  checkQuery(new URLSearchParams("a=1&a=2"), undefined);
});

const GATEWAY_BASE = "https://gateway.example.org/SITE";

Deno.test("checkOwnOrigin() accepts requests from our own pages, at the configured address or the one in use", () => {
  const taken: readonly Readonly<Record<string, string>>[] = [
    { "Sec-Fetch-Site": "same-origin" },
    { "Sec-Fetch-Site": "same-origin", Origin: "null" },
    { Origin: "https://gateway.example.org" },
    { Origin: "https://10.1.2.3:9000", Host: "10.1.2.3:9000" },
  ];
  for (const headers of taken) checkOwnOrigin(HeaderList.of(headers), GATEWAY_BASE);
});

Deno.test("checkOwnOrigin() refuses requests from another site or of unknown origin", () => {
  const refusedOnes: readonly Readonly<Record<string, string>>[] = [
    {},
    { Host: "gateway.example.org" },
    { "Sec-Fetch-Site": "cross-site", Origin: "https://gateway.example.org" },
    { "Sec-Fetch-Site": "same-site" },
    { "Sec-Fetch-Site": "none" },
    { "Sec-Fetch-Site": "same-origin, same-origin" },
    { Origin: "null" },
    { Origin: "null", Host: "null" },
    { Origin: "http://gateway.example.org", Host: "gateway.example.org" },
    { Origin: "https://gateway.example.org:8443", Host: "gateway.example.org" },
    { Origin: "https://gateway.example.org.evil.example", Host: "gateway.example.org" },
    { Origin: "https://evil.example, https://gateway.example.org" },
    { Origin: "", Host: "" },
  ];
  for (const headers of refusedOnes) {
    const refused = (error: unknown) => isHttpError(error, "ERR_FOREIGN_PAGE");
    assert.throws(
      () => checkOwnOrigin(HeaderList.of(headers), GATEWAY_BASE),
      refused,
      JSON.stringify(headers),
    );
  }
});

const OWN = "https://auth.example.org:9000";
const GATEWAY: GatewayConfig = {
  enabled: true,
  trustedPeers: ["192.0.2.0/28", "2001:db8::5"],
  certificate: undefined,
};

function origin(headers: Record<string, string>, address: string, gateway = GATEWAY) {
  return originOf(
    { headers: HeaderList.of(headers), client: { address: peerAddress(address) } },
    gateway,
    OWN,
  );
}

Deno.test("originOf() honours the headers of a configured gateway", () => {
  const headers = {
    "X-UNICORE-Consignor-IP": "203.0.113.9",
    "X-UNICORE-Gateway": "https://gw.example.org:8080/AUTH/",
    "X-UNICORE-Consignor": 'DN="CN=x";DSIG=',
  };
  const expected = {
    clientAddress: "203.0.113.9",
    base: "https://gw.example.org:8080/AUTH",
    consignor: 'DN="CN=x";DSIG=',
  };
  assert.deepEqual(origin(headers, "192.0.2.7"), expected);
  assert.deepEqual(origin(headers, "::ffff:192.0.2.7"), expected);
  assert.deepEqual(origin(headers, "2001:db8:0::5"), expected);
});

Deno.test("originOf() ignores the headers of other clients", () => {
  const headers = {
    "X-UNICORE-Consignor-IP": "203.0.113.9",
    "X-UNICORE-Gateway": "https://evil.example",
    "X-UNICORE-Consignor": "x",
    "X-Forwarded-For": "203.0.113.10",
    "Forwarded": "for=203.0.113.10",
    "X-Forwarded-Host": "evil.example",
    "Host": "evil.example",
  };
  assert.deepEqual(origin(headers, "192.0.2.16"), { clientAddress: "192.0.2.16", base: OWN });
  assert.deepEqual(origin(headers, "192.0.2.7", { ...GATEWAY, enabled: false }), {
    clientAddress: "192.0.2.7",
    base: OWN,
  });
  assert.deepEqual(origin(headers, "192.0.2.7", { ...GATEWAY, trustedPeers: [] }), {
    clientAddress: "192.0.2.7",
    base: OWN,
  });
});

const bad: [string, string][] = [
  ["X-UNICORE-Consignor-IP", "203.0.113.9, 203.0.113.10"],
  ["X-UNICORE-Consignor-IP", "localhost"],
  ["X-UNICORE-Consignor-IP", ""],
  ["X-UNICORE-Consignor-IP", "[]"],
  ["X-UNICORE-Consignor-IP", "[2001:db8::7"],
  ["X-UNICORE-Consignor-IP", "[203.0.113.9]"],
  ["X-UNICORE-Consignor-IP", "[[2001:db8::7]]"],
  ["X-UNICORE-Consignor-IP", "[2001:db8::7], [2001:db8::8]"],
  ["X-UNICORE-Consignor-IP", "[2001:db8::7]:4711"],
];
for (const [name, value] of bad) {
  Deno.test(`originOf() refuses ${name}: ${value} from a gateway`, () => {
    assert.throws(() => origin({ [name]: value }, "192.0.2.1"), { code: "ERR_BAD_FORWARDING" });
  });
}

const UNUSABLE = [
  "http://gw.example.org",
  "https://gw.example.org/a b",
  "https://user@gw.example.org",
  "javascript:alert(1)",
  "https://gw.example.org/'onclick='",
  "https://gw.example.org:65536",
  "https://[:::]",
  "https://1.2.3.256/AUTH",
  "https://xn--a",
  "https://gw.example.org/AUTH/..",
  "https://",
  "",
];
for (const value of UNUSABLE) {
  Deno.test(`originOf() makes no links from X-UNICORE-Gateway: ${value}`, () => {
    assert.deepEqual(origin({ "X-UNICORE-Gateway": value }, "192.0.2.1"), {
      clientAddress: "192.0.2.1",
      base: OWN,
      consignor: undefined,
      unusableBase: value,
    });
  });
}

Deno.test("originOf() accepts a gateway with _ in its name", () => {
  const { base, unusableBase } = origin({ "X-UNICORE-Gateway": "https://my_gw:8080/AUTH" }, "192.0.2.1");
  assert.deepEqual([base, unusableBase], ["https://my_gw:8080/AUTH", undefined]);
});

Deno.test("originOf() accepts an IPv6 client in brackets, as gateways write it", () => {
  const written: Readonly<Record<string, string>> = {
    "[2001:db8:0:0:0:0:0:7]": "2001:db8::7",
    "[fe80:0:0:0:0:0:0:1%eth0]": "fe80::1",
    "2001:db8:0:0:0:0:0:7": "2001:db8::7",
    "[::ffff:203.0.113.9]": "203.0.113.9",
  };
  for (const [text, address] of Object.entries(written)) {
    assert.equal(origin({ "X-UNICORE-Consignor-IP": text }, "192.0.2.1").clientAddress, address, text);
  }
});

Deno.test("originOf() identifies a link-local client by its address", () => {
  assert.equal(origin({}, "fe80::1%eth0").clientAddress, "fe80::1");
});
