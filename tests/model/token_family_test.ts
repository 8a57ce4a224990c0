import assert from "node:assert/strict";
import { familyWith, isAmong, type RevokedTokens, type TokenFamily } from "../../src/model/token_family.ts";

const NOW = 1_000_000;

/** Returns the last of `count` tokens, each renewed by the one before; the first has the id 0. */
function line(count: number, expires = (_: number) => 5000): TokenFamily {
  let token = familyWith(undefined, { id: "0", expires: expires(0) }, NOW);
  for (let i = 1; i < count; i++) token = familyWith(token, { id: `${i}`, expires: expires(i) }, NOW);
  return token;
}
const ids = ({ line }: TokenFamily) => line.map(({ id }) => id).join(" ");
const revoked = (some: { readonly ids?: string[]; readonly roots?: string[]; readonly before?: number }) => {
  const { before } = some;
  const found: RevokedTokens = { ids: new Set(some.ids), roots: new Set(some.roots) };
  return before === undefined ? found : { ...found, before };
};

Deno.test("familyWith() names the ancestors of a token, oldest first, and the root", () => {
  const { since, root, id, expires } = line(3);
  assert.deepEqual([since, root, id, expires], [NOW, "0", "2", 5000]);
  assert.equal(ids(line(1)), "");
  assert.equal(ids(line(3)), "0 1");
  assert.equal(ids(line(17)), Array.from({ length: 16 }, (_, i) => i).join(" "));
});

Deno.test("familyWith() leaves out expired ancestors, and of more than 16 those that expire first", () => {
  const ended = line(3, (i) => i === 1 ? 1000 : 1001);
  assert.equal(ids(ended), "0", "1 has ended in this very second");
  const many = line(20, (i) => i === 7 || i === 9 ? 2000 : 5000 + i);
  assert.equal(ids(many), "1 2 3 4 5 6 8 10 11 12 13 14 15 16 17 18");
  assert.equal(many.root, "0");
});

Deno.test("isAmong() recognises a revoked token, a revoked ancestor, or a time before which all are revoked", () => {
  const token = line(3);
  assert.equal(isAmong(token, revoked({})), false);
  for (const id of ["0", "1", "2"]) assert.equal(isAmong(token, revoked({ ids: [id] })), true, id);
  assert.equal(isAmong(token, revoked({ ids: ["3"], roots: ["0"] })), false, "all of its line are named");
  assert.equal(isAmong(token, revoked({ before: NOW - 1 })), false);
  assert.equal(isAmong(token, revoked({ before: NOW })), true);
});

Deno.test("isAmong() includes any token of the same root if its ancestors are too many to name", () => {
  assert.equal(isAmong(line(16), revoked({ roots: ["0"] })), false);
  assert.equal(isAmong(line(17), revoked({ roots: ["0"] })), true);
  assert.equal(isAmong(line(17), revoked({ roots: ["1"] })), false);
});
