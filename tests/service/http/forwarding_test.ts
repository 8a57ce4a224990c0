import assert from "node:assert/strict";
import type { GatewayConfig } from "../../../src/config/service_config.ts";
import { originOf } from "../../../src/service/http/forwarding.ts";
import { peerAddress } from "../../../src/model/address.ts";
import { HeaderList } from "../../../src/model/http_message.ts";

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

Deno.test("originOf() ignores the headers of everybody else", () => {
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
  ["X-UNICORE-Gateway", "http://gw.example.org"],
  ["X-UNICORE-Gateway", "https://gw.example.org/a b"],
  ["X-UNICORE-Gateway", "https://user@gw.example.org"],
  ["X-UNICORE-Gateway", "javascript:alert(1)"],
  ["X-UNICORE-Gateway", "https://gw.example.org/'onclick='"],
];
for (const [name, value] of bad) {
  Deno.test(`originOf() refuses ${name}: ${value} from a gateway`, () => {
    assert.throws(() => origin({ [name]: value }, "192.0.2.1"), { code: "ERR_BAD_FORWARDING" });
  });
}

Deno.test("originOf() knows a link-local client by its address", () => {
  assert.equal(origin({}, "fe80::1%eth0").clientAddress, "fe80::1");
});
