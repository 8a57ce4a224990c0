import assert from "node:assert/strict";
import { readArguments } from "../../../src/command/command.ts";
import { documented, type DocumentedCommand } from "../../../bin/docs/documented_command.ts";
import { manualPages } from "../../../bin/docs/manual_page.ts";
import { allCommands } from "../../../src/command/run_command.ts";

const COMMANDS = await allCommands();

const PROGRAM = { date: "2026-01-05", version: "1.2.3" };

const SPEC: DocumentedCommand = {
  name: "try",
  summary: "Try a thing",
  details: [".dots and 'quotes' and \\backslashes, and a-b, and ü\n'second line"],
  operands: { thing: "What to try" },
  options: { hard: { help: "Try hard", value: "N", default: "1" } },
  json: { "thing[].size?": "How large" },
  commands: [],
};

const pageOf = (spec: DocumentedCommand) => manualPages([spec], PROGRAM).at(-1)?.text ?? "";

Deno.test("manualPages() describes every command, subcommand and option", () => {
  const pages = new Map(
    manualPages(COMMANDS.map(({ spec }) => documented(spec)), PROGRAM).map(({ file, text }) => [file, text]),
  );
  assert.ok(pages.has("authserver.1"));
  for (const { spec } of COMMANDS) {
    const text = (pages.get(`authserver-${spec.name}.1`) ?? "").replaceAll("\\-", "-");
    for (const inner of [spec, ...spec.commands]) {
      assert.ok(text.includes(`authserver ${inner.name}`), inner.name);
      for (const option of inner.commands.length > 0 ? [] : Object.keys(inner.options)) {
        assert.ok(text.includes(`--${option}`), `${inner.name} --${option}`);
      }
    }
    assert.ok(pages.get("authserver.1")?.includes(spec.name.replaceAll("-", "\\-")), spec.name);
  }
});

Deno.test("every command except version has examples, which can be typed as printed", () => {
  const all = COMMANDS.map(({ spec }) => documented(spec));
  const specs = all.flatMap((spec) => [spec, ...spec.commands]);
  for (const spec of all.filter(({ name }) => name !== "version")) {
    const lines = [spec, ...spec.commands].flatMap(({ examples = {} }) => Object.keys(examples));
    assert.ok(lines.length > 0, spec.name);
    for (const line of lines) {
      const commands = line.split(/&&|[|<>()]/).map((part) => part.trim());
      for (const command of commands.filter((part) => /^(?:sudo -u \S+ )?authserver\b/.test(part))) {
        const typed = command.replace(/^(?:sudo -u \S+ )?authserver ?/, "");
        const words = [...typed.matchAll(/["']([^"']*)["']|(\S+)/g)].map(([, quoted, word]) =>
          quoted ?? word ?? ""
        );
        const meant = specs.findLast(({ name }) => `${typed} `.startsWith(`${name} `));
        const used = words.length === 0 ? spec : meant;
        assert.ok(used, line);
        assert.notEqual(readArguments(used, words.slice(used.name.split(" ").length)), "help", line);
      }
    }
  }
});

Deno.test("manualPages() escapes text that looks like a roff request, without loss", () => {
  const text = pageOf(SPEC);
  assert.match(text, /^\\&\.dots and 'quotes' and \\ebackslashes, and a\\-b, and \\\[u00FC\]$/m);
  assert.match(text, /^\.br\n\\&'second line$/m);
  assert.match(text, /^\.BI \\-\\-hard " N"\nTry hard\.\nDefault: 1\.$/m);
});

Deno.test("manualPages() begins the purpose after the name in lower case, unless with an abbreviation", () => {
  const purpose = (summary: string) =>
    /^\.SH NAME\n(.*)$/m.exec(pageOf({ ...SPEC, summary }).replaceAll("\\-", "-"))?.[1];
  assert.equal(purpose("Try a thing"), "authserver-try - try a thing");
  assert.equal(purpose("TLS for all"), "authserver-try - TLS for all");
});

Deno.test("manualPages() uses ASCII, and lines of at most 80 characters", () => {
  for (const { file, text } of manualPages(COMMANDS.map(({ spec }) => documented(spec)), PROGRAM)) {
    assert.match(text.replaceAll("\n", ""), /^[\x20-\x7e]*$/, file);
    for (const line of text.split("\n")) assert.ok(line.length <= 80, `${file}: ${line}`);
  }
});

for (
  const [program, args] of [["mandoc", ["-T", "lint", "-W", "style"]], ["man", ["--warnings", "-l"]]] as const
) {
  Deno.test({
    name: `manualPages() causes no warnings of ${program}`,
    ignore: !await isInstalled(program),
    async fn() {
      const folder = await Deno.makeTempDir();
      try {
        for (const { file, text } of manualPages(COMMANDS.map(({ spec }) => documented(spec)), PROGRAM)) {
          await Deno.writeTextFile(`${folder}/${file}`, text);
          const { stdout, stderr } = await new Deno.Command(program, {
            args: [...args, `${folder}/${file}`],
          }).output();
          const said = program === "man" ? stderr : stdout;
          assert.equal(new TextDecoder().decode(said), "", file);
        }
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  });
}

async function isInstalled(program: string): Promise<boolean> {
  const { success } = await new Deno.Command("which", { args: [program] }).output();
  return success;
}

Deno.test("manualPages() fills lines of 78 characters, and breaks longer ones", () => {
  const words = ["x".repeat(38), "y".repeat(39), "z".repeat(38), "w".repeat(40)];
  const lines = pageOf({ ...SPEC, details: [words.join(" ")] }).split("\n");
  const at = lines.findIndex((line) => line.startsWith("xx"));
  assert.deepEqual(lines.slice(at, at + 3), [`${words[0]} ${words[1]}`, words[2], words[3]]);
});
