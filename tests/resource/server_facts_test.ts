import assert from "node:assert/strict";
import { parseServerAddress, statusText } from "../../src/resource/server_facts.ts";

const [UP, DOWN, NEW] = [{ up: true }, { up: false }, { up: false, unchecked: true }];

const TEXTS: readonly (readonly [
  daemons: readonly { up: boolean; unchecked?: boolean }[],
  text: string,
  forStrangers?: string,
])[] = [
  [[NEW], "DOWN [not checked yet]"],
  [[NEW, NEW], "DOWN [not checked yet]"],
  [[NEW, DOWN], "DOWN [0 of 2 available]"],
  [[DOWN], "DOWN [0 of 1 available]"],
  [[], "DOWN [0 of 0 available]"],
  [[UP], "OK [connected to h1:1]", "OK [1 of 1 available]"],
  [[NEW, UP], "OK [connected to h2:1; 1 of 2 available]", "OK [1 of 2 available]"],
];

for (const [daemons, text, forStrangers = text] of TEXTS) {
  Deno.test(`statusText() of ${JSON.stringify(daemons)} is ${text}, and ${forStrangers} for strangers`, () => {
    const instances = daemons.map((daemon, i) => ({ instance: i + 1, address: `h${i + 1}:1`, ...daemon }));
    const available = instances.filter(({ up }) => up).length;
    const status = {
      usable: available > 0,
      worthTrying: instances.some(({ up, unchecked }) => up || unchecked),
      unchecked: instances.length > 0 && instances.every(({ unchecked }) => unchecked),
      total: instances.length,
      available,
      instances,
    };
    assert.deepEqual([statusText(status, true), statusText(status, false)], [text, forStrangers]);
  });
}

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
  Deno.test(`parseServerAddress() parses "${segment}"`, () => {
    const address = parseServerAddress(segment);
    assert.equal(address.name, name);
    assert.equal(address.instance, instance);
  });
}
