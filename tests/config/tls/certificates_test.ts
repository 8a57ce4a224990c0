import assert from "node:assert/strict";
import { pemBlocks } from "../../../src/config/tls/certificates.ts";

const block = (label: string, end = label) => `-----BEGIN ${label}-----\nAAAA\n-----END ${end}-----`;

const table: [what: string, text: string, labels: string[]][] = [
  ["nothing", "no block", []],
  ["blocks with text between them", `x\n${block("A")}\ny ${block("B C")}\n`, ["A", "B C"]],
  ["no block without its end", `${block("A")}\n-----BEGIN B-----\nAAAA`, ["A"]],
  ["no block with the end marker of another", `${block("A", "B")}\n${block("C")}`, ["C"]],
  ["the block after an unterminated one", `-----BEGIN A-----\nAAAA\n${block("B")}`, ["B"]],
  ["no end before its beginning", `-----END A-----\n${block("A")}`, ["A"]],
  ["no truncated beginning", "-----BEGIN A", []],
];
for (const [what, text, labels] of table) {
  Deno.test(`pemBlocks() finds ${what}`, () => {
    const found = [...pemBlocks(text)];
    assert.deepEqual(found.map(({ label }) => label), labels);
    for (const { label, text: whole } of found) assert.equal(whole, block(label));
  });
}
