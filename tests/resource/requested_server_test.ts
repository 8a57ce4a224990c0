import assert from "node:assert/strict";
import { parseServerAddress } from "../../src/resource/requested_server.ts";

const table: [string, string, number | undefined][] = [
  ["HPC1", "HPC1", undefined],
  ["HPC1-2", "HPC1", 2],
  ["HPC1-+2", "HPC1", 2],
  ["A-B-2", "A-B", 2],
  ["A-1", "A-1", undefined],
  ["HPC1-x", "HPC1-x", undefined],
  ["HPC1-", "HPC1-", undefined],
  ["HPC1-0", "HPC1", 0],
  ["HPC1--1", "HPC1-", 1],
  ["HPC1-2147483647", "HPC1", 2147483647],
  ["HPC1-2147483648", "HPC1-2147483648", undefined],
  ["-1", "-1", undefined],
  ["", "", undefined],
];
for (const [segment, name, instance] of table) {
  Deno.test(`parseServerAddress() takes "${segment}" apart`, () => {
    const address = parseServerAddress(segment);
    assert.equal(address.name, name);
    assert.equal(address.instance, instance);
  });
}
