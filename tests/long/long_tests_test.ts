import assert from "node:assert/strict";

for (const names of [["faults", "nonsense"], ["constructor"], ["Faults"]]) {
  Deno.test(`deno task test:long ${names.join(" ")} runs nothing, and lists the parts`, async () => {
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
        }, expected some of faults, parsers, growth, trials, instances, campaign, speed, repetitions, listings, builds`,
      ),
    );
  });
}

for (const args of [["--seed", "x"], ["--seed"], ["--minutes", "0"], ["--minutes", "many"]]) {
  Deno.test(`deno task test:long campaign ${args.join(" ")} runs nothing, and prints the expected arguments`, async () => {
    const program = new URL("long_tests.ts", import.meta.url).pathname;
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-check", "-A", program, "campaign", ...args],
    }).output();
    assert.equal(code, 2);
    assert.match(new TextDecoder().decode(stderr), /expected a whole number with --seed/);
  });
}
