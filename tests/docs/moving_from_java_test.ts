import assert from "node:assert/strict";
import { cp } from "node:fs/promises";
import { readShareDump } from "../../src/sharing/import/share_dump.ts";
import { loadText } from "../config/load_fixture.ts";
import { runFromSource } from "../system/service_process.ts";

const here = (path: string) => new URL(`../${path}`, import.meta.url);
const guide = await Deno.readTextFile(here("../docs/moving_from_java.md"));

/** Sentences at the start of the guide, each in one line. */
const head = guide.slice(0, guide.indexOf("\n## ")).replaceAll(/\n(?=\S)/g, " ");

Deno.test("the guide's figures of configuration keys match the fixture", async () => {
  const text = await Deno.readTextFile(here("config/fixtures/java_service_keys.properties"));
  const keys = text.split("\n").filter((line) => /^[a-z]/.test(line)).map((line) => line.split("=")[0] ?? "");
  const { errors, warnings } = await loadText(text, {
    "conf/file": "",
  });
  const named = (diagnostics: readonly string[]) =>
    new Set(
      keys.filter((key) =>
        diagnostics.some((line) => line.includes(`: ${key}:`) || line.includes(`: ${key} =`))
      ),
    );
  const refused = named(errors);
  const ignored = named(warnings.filter((line) => line.includes("ignored: "))).difference(refused);
  const accepted = keys.length - refused.size - ignored.size;
  const figures =
    `The Java service has ${keys.length} configuration keys. This service accepts ${accepted}, ignores ${ignored.size} with a warning, and refuses ${
      refused.size === 0 ? "none" : refused.size
    }.`;
  assert(
    head.includes(figures),
    `expected in docs/moving_from_java.md: ${figures}\n${[...refused].join("\n")}`,
  );
});

Deno.test("the guide's figures of share dumps match the fixtures", async () => {
  const [all, dumps]: [string[], string[]] = [[], []];
  for await (const { name } of Deno.readDir(here("fixtures/java_shares/"))) {
    if (!/\.(?:csv|sql)$/.test(name)) continue;
    all.push(name);
    const text = await Deno.readTextFile(here(`fixtures/java_shares/${name}`));
    const options = { file: name, servers: ["TEST"], now: Date.UTC(2026, 0) };
    if (readShareDump(text, options).shares.length >= 4) dumps.push(name);
  }
  const databases = new Set(dumps.map((name) => name.replace(/\.\w+$/, "")));
  const figures =
    `It imports ${dumps.length} of ${all.length} dumps that its storage wrote into ${databases.size} databases`;
  assert(head.includes(figures), `expected in docs/moving_from_java.md: ${figures}`);
});

Deno.test("the guide's two commands move 5,000 shares and 200 lines of configuration in under a minute", async () => {
  assert.match(
    head,
    /Two commands move a site of 5,000 shares and 200 configuration lines in under a minute/,
  );
  const folder = await Deno.makeTempDir({ prefix: "authserver-move-" });
  try {
    await cp(here("fixtures/java_installation/variant_a"), `${folder}/java`, { recursive: true });
    const main = `${folder}/java/conf/container.properties`;
    const text = await Deno.readTextFile(main);
    const lines = Array.from(
      { length: 200 - text.split("\n").length },
      (_, i) => `authservice.server.CLUSTER.description=line ${i}`,
    );
    await Deno.writeTextFile(main, `${text}${lines.join("\n")}\n`);
    await Deno.mkdir(`${folder}/java/data`);
    await Deno.writeTextFile(`${folder}/java/data/SHARES_CLUSTER.mv.db`, "H:2");
    await Deno.mkdir(`${folder}/new`);
    // Writes the output of the first command, that of H2: the fixture's first share under many ids.
    const [header = "", row = ""] = (await Deno.readTextFile(here("fixtures/java_shares/h2_2.4.csv"))).split(
      "\n",
    );
    const id = /^"(\w+)"/.exec(row)?.[1] ?? "";
    const rows = Array.from({ length: 5000 }, (_, i) => row.replaceAll(id, `made${i}`));
    await Deno.writeTextFile(`${folder}/new/SHARES_CLUSTER.csv`, [header, ...rows, ""].join("\n"));

    // Permits a minute of processor time, however busy the machine is.
    const { code, stdout, stderr } = await new Deno.Command("sh", {
      args: [
        "-c",
        'ulimit -t 60; exec "$@"',
        "sh",
        Deno.execPath(),
        ...runFromSource(),
        "migrate",
        "../java",
      ],
      cwd: `${folder}/new`,
    }).output();
    const printed = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assert.equal(code, 0, printed);
    assert.match(printed, /^ {2}5000 shares imported$/m);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
