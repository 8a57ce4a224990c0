import assert from "node:assert/strict";
import {
  distinguishedName,
  type Key,
  path,
  secretText,
  text,
  UnexpectedValue,
} from "../../src/config/key.ts";

const HELP = { help: "For a test" };
const parse = <T>(key: Key<T>, found: string) => key.parse(found, { workingDirectory: "/srv/auth" });
const refuses = (key: Key<unknown>, found: string) => assert.throws(() => parse(key, found), UnexpectedValue);

Deno.test("path() resolves paths from the working directory, and refuses empty text", () => {
  assert.equal(parse(path(HELP), "conf/a"), "/srv/auth/conf/a");
  assert.equal(parse(path(HELP), "/etc/a"), "/etc/a");
  refuses(path(HELP), "");
  refuses(text(HELP), "");
});

Deno.test("secretText() requires a minimum number of bytes, and names it in its type", () => {
  assert.equal(secretText(HELP).type, "a secret");
  assert.equal(parse(secretText(HELP), ""), "");
  assert.throws(() => parse(secretText({ ...HELP, minBytes: 1 }), ""));
  const long = secretText({ ...HELP, minBytes: 4 });
  assert.equal(long.type, "a secret of at least 4 bytes");
  assert.equal(parse(long, "ää"), "ää");
  refuses(long, "äx");
});

Deno.test("distinguishedName() accepts a name of at least one part, with its placeholder", () => {
  assert.equal(parse(distinguishedName(HELP), "CN=a"), "CN=a");
  for (const found of ["", "a", "CN=%s,"]) refuses(distinguishedName(HELP), found);
  const template = distinguishedName({ ...HELP, placeholder: "%s" });
  assert.equal(parse(template, "CN=%s,O=x"), "CN=%s,O=x");
  for (const found of ["CN=a", "", "%s"]) refuses(template, found);
});
