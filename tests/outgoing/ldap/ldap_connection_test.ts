import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { InvalidLdapMessage, LdapConnection } from "../../../src/outgoing/ldap/ldap_connection.ts";
import { sequence, tagged } from "../../pki/der.ts";
import { answering, entry, message, policy, result, text } from "./ldap_wire.ts";

const SEARCH = { base: "dc=x", scope: "sub", filter: "(uid=a)", attributes: ["uid"], most: 2 } as const;
const DONE = message(1, result(0, { tag: 0x65 }));
const LONGER = "x".repeat(300); // needs more than one length octet
const LONG = "x".repeat(1_100_000);

Deno.test("LdapConnection.bind() returns code, text and password policy error", async () => {
  const connection = new LdapConnection(answering(message(1, result(49, { said: "data 775" }), policy(1))));
  assert.deepEqual(await connection.bind("cn=x", "secret"), { code: 49, text: "data 775", policy: 1 });
});

Deno.test("LdapConnection.bind() never sends an empty password or name, which would bind anonymously", async () => {
  const wire = answering();
  const connection = new LdapConnection(wire);
  await assert.rejects(connection.bind("cn=x", ""), TypeError);
  await assert.rejects(connection.bind("", "secret"), TypeError);
  assert.equal(wire.written.length, 0);
});

Deno.test("LdapConnection.search() reads entries in any pieces, and omits references", async () => {
  const reference = message(1, tagged(0x73, text("ldap://other.example/dc=x")));
  const all = Buffer.concat([
    message(1, entry("uid=a,dc=x", { uid: ["a"], cn: ["A", "ä"] })),
    message(1, entry(LONGER, {})),
    reference,
    DONE,
  ]);
  for (const length of [1, 2, 7, all.length]) {
    const pieces = Array.from(
      { length: Math.ceil(all.length / length) },
      (_, i) => all.subarray(i * length, (i + 1) * length),
    );
    const { code, entries } = await new LdapConnection(answering(...pieces)).search(SEARCH);
    assert.equal(code, 0);
    assert.deepEqual(entries, [{
      dn: "uid=a,dc=x",
      attributes: new Map([["uid", ["a"]], ["cn", ["A", "ä"]]]),
    }, { dn: LONGER, attributes: new Map() }]);
  }
});

Deno.test("LdapConnection omits values that are not text", async () => {
  const photo = tagged(
    0x64,
    text("uid=a"),
    sequence(sequence(text("photo"), tagged(0x31, tagged(4, Buffer.of(0xff))))),
  );
  const { entries } = await new LdapConnection(answering(message(1, photo), DONE)).search(SEARCH);
  assert.deepEqual(entries, [{ dn: "uid=a", attributes: new Map([["photo", []]]) }]);
});

const BROKEN: readonly (readonly [what: string, parts: readonly Uint8Array[], error: RegExp])[] = [
  ["is truncated", [DONE.subarray(0, 5)], /closed the connection/],
  ["answers another request", [message(9, result(0))], /answers no request/],
  ["is a notice of disconnection", [
    message(0, tagged(0x78, tagged(0x0a, Buffer.of(52)), text(""), text(""))),
  ], /answers no request/],
  ["is a request", [message(1, tagged(0x60))], /no response/],
  ["announces more than the limit", [Buffer.of(0x30, 0x84, 0x7f, 0xff, 0xff, 0xff)], /longer than/],
  ["is longer than the limit", Array.from({ length: 16 }, () => message(1, entry(LONG, {}))), /longer than/],
  ["has an indefinite length", [Buffer.of(0x30, 0x80)], /length/],
  // ldapts 9.2.0 never returns for these two.
  ["has a set that ends later than its message", [
    message(1, tagged(0x64, text("a"), sequence(sequence(tagged(4, Buffer.of(4, 0, 0x31, 0x7f, 4, 0x7f)))))),
  ], /well-formed/],
  ["has an element that ends later than its result", [
    message(1, tagged(0x61, tagged(0x0a, Buffer.of(0)), text(""), text(""), Buffer.of(0x87, 0x7f))),
  ], /well-formed/],
];
for (const [what, parts, error] of BROKEN) {
  Deno.test(`LdapConnection refuses an answer that ${what}`, async () => {
    const connection = new LdapConnection(answering(...parts));
    await assert.rejects(connection.search(SEARCH), (found) => {
      assert(found instanceof Error);
      assert.match(found.message, error);
      return found instanceof InvalidLdapMessage || /closed/.test(found.message);
    });
  });
}

Deno.test("LdapConnection.startTls() continues only after success, and refuses bytes that arrive with it", async () => {
  const ask = async (answer: Uint8Array) => {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    using plain = await Deno.connect({ port: listener.addr.port });
    using server = await listener.accept();
    await server.write(answer);
    await LdapConnection.startTls(plain);
  };
  const answer = (code: number) => message(1, result(code, { tag: 0x78, said: "no TLS" }));
  await ask(answer(0));
  await assert.rejects(ask(answer(2)), /refuses StartTLS with code 2 no TLS/);
  await assert.rejects(ask(Buffer.concat([answer(0), Buffer.of(0x30)])), /more than an answer/);
});
