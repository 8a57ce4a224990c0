import assert from "node:assert/strict";

for (const names of [["faults", "nonsense"], ["constructor"], ["Faults"]]) {
  Deno.test(`deno task test:long ${names.join(" ")} runs nothing, and says what there is`, async () => {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--quiet",
        "--no-check",
        "-A",
        new URL("long_tests.ts", import.meta.url).pathname,
        ...names,
      ],
    }).output();
    const text = new TextDecoder().decode(stderr);
    assert.deepEqual([code, stdout.length], [2, 0]);
    assert.match(
      text,
      new RegExp(
        `found ${
          names.at(-1)
        }, expected some of faults, parsers, growth, trials, instances, listings, builds`,
      ),
    );
  });
}
