import assert from "node:assert/strict";
import fc from "fast-check";
import { readBearer } from "../../src/authentication/parse_credentials.ts";
import type { BearerRoute } from "../../src/model/credentials.ts";
import { unsignedJwt } from "./sample_credentials.ts";

const ROUTES: [string, string, BearerRoute][] = [
  ["an opaque token", "2YotnFZFEjr1zCsicMWpAA", "provider"],
  ["an empty token", "", "provider"],
  ["a provider's JWT", unsignedJwt({ sub: "ann", iss: "https://idp.example" }), "provider"],
  ["a JWT without sub and iss", unsignedJwt({ aud: "x" }), "provider"],
  ["a JWT whose sub and iss are the same number", unsignedJwt({ sub: 1, iss: 1 }), "provider"],
  ["a JWT with null claims", unsignedJwt(null), "provider"],
  ["a JWT with a list of claims", unsignedJwt([]), "provider"],
  ["two parts", unsignedJwt({ sub: "ann", iss: "ann" }).replace(/\.AAAA$/, ""), "provider"],
  ["an encrypted token of five parts", `${unsignedJwt({ sub: "ann", iss: "ann" })}.B.C`, "provider"],
  ["an SSH token", unsignedJwt({ sub: "ann", iss: "ann" }), "ssh-key"],
  ["an SSH token of pyuftp", unsignedJwt({ sub: "ann", iss: "ann", etd: "false" }), "ssh-key"],
  ["an SSH token without signature", `${unsignedJwt({ sub: "ann", iss: "ann" }).slice(0, -4)}`, "ssh-key"],
  ["an issued token", unsignedJwt({ sub: "CN=a", iss: "CN=s", etd: "true" }), "issued"],
  ["an issued token with a boolean", unsignedJwt({ sub: "CN=a", iss: "CN=s", etd: true }), "issued"],
  ["an issued token in upper case", unsignedJwt({ sub: "CN=a", iss: "CN=s", etd: "TRUE" }), "issued"],
  ["an issued token that names itself", unsignedJwt({ sub: "CN=a", iss: "CN=a", etd: true }), "issued"],
  ["an issued token without sub", unsignedJwt({ etd: true }), "issued"],
];

for (const [what, token, route] of ROUTES) {
  Deno.test(`readBearer() sends ${what} to ${route}`, () => {
    assert.equal(readBearer(token).route, route);
  });
}

Deno.test("readBearer() never throws", () => {
  fc.assert(fc.property(fc.string(), fc.string(), fc.string(), (a, b, c) => {
    readBearer(`${a}.${b}.${c}`);
  }));
});

Deno.test("readBearer() never sends a self-issued token to a provider, whatever else it claims", () => {
  const name = fc.string({ minLength: 1, unit: fc.constantFrom(..."abcXYZ09_-.") });
  fc.assert(
    fc.property(name, fc.dictionary(fc.string({ unit: "grapheme-ascii" }), fc.nat()), (user, more) => {
      assert.notEqual(readBearer(unsignedJwt({ ...more, sub: user, iss: user })).route, "provider");
    }),
  );
});

Deno.test("readBearer() gives tokens the same claimant only if they have the same issuer and subject", () => {
  const claimant = (claims: unknown) => readBearer(unsignedJwt(claims)).claimant;
  const ann = { sub: "ann", iss: "ann" };
  assert.equal(claimant({ ...ann, exp: 1 }), claimant({ ...ann, exp: 2 }));
  const others = [
    { ...ann, sub: "bob" },
    { ...ann, iss: "https://idp.example" },
    { ...ann, etd: true },
    { sub: "annann", iss: "" },
    { sub: "ann", iss: ["ann"] },
    { sub: ["ann"], iss: "ann" },
    {},
  ];
  assert.equal(new Set([ann, ...others].map(claimant)).size, others.length + 1);
  assert.equal(readBearer("2YotnFZFEjr1zCsicMWpAA").claimant, readBearer("2YotnFZFEjr1zCsicMWpAA").claimant);
  assert.notEqual(readBearer("opaque-1").claimant, readBearer("opaque-2").claimant);
});
