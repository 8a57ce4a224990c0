import assert from "node:assert/strict";
import { HostCookie, readCookie } from "../../src/model/cookie.ts";

Deno.test("readCookie() finds a cookie among others, but not if it occurs twice", () => {
  const cases: readonly (readonly [string | null, string | undefined])[] = [
    [null, undefined],
    ["", undefined],
    ["a=1", "1"],
    ["b=2; a=1", "1"],
    ["b=2;a=1;c", "1"],
    ["  a = 1 ", "1"],
    ["a=1=2", "1=2"],
    ["a=", ""],
    ["A=1", undefined],
    ["xa=1", undefined],
    ["b=a=1", undefined],
    ["a=1; a=2", undefined],
    ["a=1; a=1", undefined],
    ["=1; a", undefined],
  ];
  for (const [header, value] of cases) assert.equal(readCookie(header, "a"), value, String(header));
});

Deno.test("HostCookie uses a separate name for each base URL, and attributes that bind it to the host", () => {
  const set = (base: string) => new HostCookie("sign-in", base).set("x");
  const rest = "=x; Path=/; Secure; HttpOnly; SameSite=Lax";
  assert.equal(set("https://auth.example.org"), `__Host-authserver-sign-in${rest}`);
  assert.equal(set("https://auth.example.org:9000/"), `__Host-authserver-sign-in${rest}`);
  assert.equal(set("https://gw.example.org/SITE-A"), `__Host-authserver-sign-in.SITE-A${rest}`);
  assert.equal(set("https://gw.example.org/a/b"), `__Host-authserver-sign-in.a.b${rest}`);
  assert.match(new HostCookie("x", "https://h").set("", 0), /; Max-Age=0$/);
});
