import assert from "node:assert/strict";
import {
  CommandFailed,
  defineCommand,
  defineCommands,
  printResult,
  textTable,
  WrongUsage,
} from "../../src/command/command.ts";
import { recordedIo } from "./recorded_io.ts";

const greet = defineCommand(
  {
    name: "greet",
    summary: "Greet somebody",
    operands: { whom: "Name of somebody" },
    options: {
      loud: { help: "With emphasis" },
      words: { help: "What to say", value: "TEXT", default: "Hello" },
      after: { help: "What to add", value: "TEXT" },
    },
    details: ["Nobody minds."],
  },
  (given, io) => {
    const whom = given.operand("whom");
    if (whom === "nobody") throw new CommandFailed("Nobody is there");
    if (whom === "me") throw new WrongUsage("Expected somebody else");
    if (whom === "bug") throw new TypeError("a defect");
    const said = `${given.text("words")} ${whom}${given.flag("loud") ? "!" : ""}${given.text("after") ?? ""}`;
    printResult(given, io, { value: { said }, text: `${said}\n` });
    return Promise.resolve(0);
  },
);
const group = defineCommands({
  name: "talk",
  summary: "Talk",
  commands: [
    defineCommand(
      { name: "talk on", summary: "Go on", operands: {}, options: {} },
      () => Promise.resolve(0),
    ),
  ],
});

const SEE = "See authserver greet --help\n";
const RUNS: [string, string[], number, string, string][] = [
  ["operands and defaults", ["ann"], 0, "Hello ann\n", ""],
  ["options anywhere", ["--loud", "ann", "--words=Bye"], 0, "Bye ann!\n", ""],
  ["a separate value", ["ann", "--after", "?"], 0, "Hello ann?\n", ""],
  ["operands after --", ["--", "--loud"], 0, "Hello --loud\n", ""],
  ["a failure", ["nobody"], 1, "", "authserver greet: Nobody is there\n"],
  ["wrong usage detected late", ["me"], 2, "", `authserver greet: Expected somebody else\n${SEE}`],
  [
    "a missing operand",
    [],
    2,
    "",
    `authserver greet: Expected <whom> besides options, found 0 arguments\n${SEE}`,
  ],
  [
    "an extra operand",
    ["ann", "bob"],
    2,
    "",
    `authserver greet: Expected <whom> besides options, found 2 arguments\n${SEE}`,
  ],
  [
    "a duplicate option",
    ["ann", "--loud", "--loud"],
    2,
    "",
    `authserver greet: Option --loud is given twice\n${SEE}`,
  ],
];

for (const [what, args, status, stdout, stderr] of RUNS) {
  Deno.test(`Command handles ${what}`, async () => {
    const io = recordedIo();
    assert.equal(await greet.run(args, io), status);
    assert.equal(io.out, stdout);
    assert.equal(io.err, stderr);
  });
}

Deno.test("Command prints JSON on request, even for a failure", async () => {
  for (
    const [args, status, value, message] of [
      [["ann", "--json"], 0, { said: "Hello ann" }, ""],
      [["nobody", "--json"], 1, { error: "Nobody is there" }, "authserver greet: Nobody is there\n"],
      [
        ["me", "--json"],
        2,
        { error: "Expected somebody else" },
        `authserver greet: Expected somebody else\n${SEE}`,
      ],
    ] as const
  ) {
    const io = recordedIo();
    assert.equal(await greet.run(args, io), status);
    assert.deepEqual(JSON.parse(io.out), value);
    assert.equal(io.err, message);
  }
});

for (const args of [["--lout", "ann"], ["--words"], ["--loud=yes", "ann"], ["-l", "ann"]]) {
  Deno.test(`Command reports ${args.join(" ")} as wrong usage`, async () => {
    const io = recordedIo();
    assert.equal(await greet.run(args, io), 2);
    assert.match(io.err, /^authserver greet: .*\nSee authserver greet --help\n$/s);
    assert.equal(io.out, "");
  });
}

Deno.test("Command rethrows a defect", async () => {
  await assert.rejects(greet.run(["bug"], recordedIo()), TypeError);
});

Deno.test("Command prints its usage from its table", async () => {
  const io = recordedIo();
  assert.equal(await greet.run(["--help"], io), 0);
  assert.equal(io.out, greet.usage);
  assert.equal(
    greet.usage,
    `Usage: authserver greet [options] <whom>

Greet somebody

Arguments:
  <whom>  Name of somebody

Options:
  --loud         With emphasis
  --words TEXT   What to say (default: Hello)
  --after TEXT   What to add
  --config FILE  Main configuration file. If not given: conf/container.properties, or else /etc/authserver/container.properties
  --json         Print one JSON value, as described in the manual
  -h, --help     Show this text

Nobody minds.
`,
  );
});

const GROUP_RUNS: [string[], number, RegExp, RegExp][] = [
  [["on"], 0, /^$/, /^$/],
  [["--help"], 0, /^Usage: authserver talk <command> …\n\nTalk\n\nCommands:\n {2}talk on {2}Go on\n/, /^$/],
  [["on", "--help"], 0, /^Usage: authserver talk on \[options\]\n/, /^$/],
  [[], 2, /^$/, /talk: Expected a command, one of on/],
  [["off"], 2, /^$/, /talk: Unknown command "off", (?:did you mean|expected one of) on/],
  [["on", "x"], 2, /^$/, /talk on: Expected no arguments besides options, found 1 argument\n/],
];

for (const [args, status, stdout, stderr] of GROUP_RUNS) {
  Deno.test(`Command with subcommands handles ${JSON.stringify(args)}`, async () => {
    const io = recordedIo();
    assert.equal(await group.run(args, io), status);
    assert.match(io.out, stdout);
    assert.match(io.err, stderr);
  });
}

const ROWS = [["a", "bcd", "e"], ["fgh", "i", ""], ["jklmno"]];

Deno.test("textTable() makes columns as wide as needed, without trailing blanks", () => {
  assert.equal(textTable(ROWS), "a       bcd  e\nfgh     i\njklmno\n");
  assert.equal(textTable(ROWS, { indent: 2 }), "  a       bcd  e\n  fgh     i\n  jklmno\n");
  assert.equal(textTable([]), "");
});

Deno.test("textTable() shifts only its own row for a cell over the maximum width", () => {
  assert.equal(textTable([["a", "b"], ["cdefgh", "i"]], { widest: 3 }), "a    b\ncdefgh  i\n");
});

Deno.test("textTable() escapes terminal control characters, and counts the escaped width", () => {
  const [first, second] = textTable([["\x1b", "x"], ["y", "z"]]).split("\n");
  assert.ok(!first?.includes("\x1b"));
  assert.equal(first?.indexOf("x", 6), second?.indexOf("z"));
});
