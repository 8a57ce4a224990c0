import assert from "node:assert/strict";
import { changedKeys, type EffectiveValue, KeyReader } from "../../src/config/key_reader.ts";
import { join } from "node:path";
import { loadProperties } from "../../src/config/properties.ts";
import { writtenKeys } from "../../bin/docs/written_keys.ts";
import { fileKey, type Section } from "../../src/config/key.ts";
import { sections } from "../../bin/docs/sections.ts";
import { type Diagnostic, formatDiagnostic } from "../../src/model/diagnostic.ts";
import { KINDS } from "../../src/service/kinds.ts";
import { assertRemedies } from "../fixtures/remedies.ts";
import { loadText, MINIMAL, MINIMAL_LINES } from "./load_fixture.ts";

const values = (pairs: Record<string, string | undefined>): EffectiveValue[] =>
  Object.entries(pairs).map(([key, value]) => ({
    key,
    section: "any",
    secret: false,
    ...(value !== undefined && { value }),
  }));

const table: [string, Record<string, string | undefined>, Record<string, string | undefined>, string[]][] = [
  ["nothing", { a: "1", b: undefined }, { b: undefined, a: "1" }, []],
  ["another value", { a: "1", b: "2" }, { a: "1", b: "3" }, ["b"]],
  ["a new key", {}, { a: "1" }, ["a"]],
  ["a removed key", { b: "1", a: "1" }, {}, ["a", "b"]],
  ["a key with an unusual name", { ["__proto__"]: "1" }, { constructor: "1" }, ["__proto__", "constructor"]],
];
for (const [what, before, after, keys] of table) {
  Deno.test(`changedKeys() finds ${what}`, () => {
    assert.deepEqual(changedKeys(values(before), values(after)), keys);
  });
}

/** Sections with one secret each; `X` replaces `<…>`. */
const SECTIONS = await sections(KINDS);
const SECRETS = SECTIONS.flatMap((section) =>
  Object.entries(section.keys).flatMap(([field, key]) => {
    if (key.shape === "many" || !key.secret) return [];
    const prefix = section.prefix.replace(/<\w+>/g, "X");
    return [{ section: { ...section, prefix, keys: { [field]: key } }, field, name: key.name ?? field }];
  })
);

const SECRET = "  a secret = of $many bytes, with blanks at both ends ü  ";

interface Reading {
  readonly value: unknown;
  readonly sources: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  readonly effective: KeyReader["effective"];
}

/** Reads the only secret of a section in a new folder. */
async function read(
  section: Section,
  text: string,
  { content = `${SECRET}\n`, mode = 0o600, prepare = async () => {} }: {
    readonly content?: string | Uint8Array<ArrayBuffer>;
    readonly mode?: number;
    readonly prepare?: (file: string) => Promise<void>;
  } = {},
): Promise<Reading> {
  const folder = await Deno.makeTempDir();
  try {
    const main = join(folder, "c");
    const file = join(folder, "secret");
    await Deno.writeTextFile(main, text, { mode: 0o600 });
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    await Deno.writeFile(file, bytes, { mode });
    await Deno.chmod(file, mode);
    await prepare(file);
    const diagnostics: Diagnostic[] = [];
    const variables = new Map([["CREDENTIALS_DIRECTORY", folder], ["THE_SECRET", SECRET]]);
    const environment = (name: string) => variables.get(name);
    const properties = await loadProperties(main, { environment, workingDirectory: folder }, diagnostics);
    const reader = new KeyReader(properties, folder, diagnostics);
    const values = reader.read(section);
    await reader.checkFiles();
    await reader.reportUnknown("error");
    const [field = ""] = Object.keys(section.keys);
    return {
      value: values?.[field],
      sources: reader.sources.map((path) => path.slice(folder.length + 1)),
      diagnostics: diagnostics.map((one) => ({
        ...one,
        expected: one.expected.replaceAll(folder, ""),
        file: one.file.replaceAll(folder, ""),
      })),
      effective: reader.effective,
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const shown = ({ diagnostics }: Reading) => {
  assertRemedies(diagnostics);
  return diagnostics.map((diagnostic) => `${diagnostic.severity}: ${formatDiagnostic(diagnostic)}`);
};

Deno.test("the tests find the secrets of every section", () => {
  const names = SECRETS.map(({ section, name }) => section.prefix + name);
  assert(names.length >= 10, names.join());
  for (const name of ["persistence.password", "container.security.rest.jwt.hmacSecret"]) {
    assert(names.includes(name), name);
  }
});

Deno.test("list keys hold no secrets, which could have no file key, and no other key has a file key's name", () => {
  for (const section of SECTIONS) {
    const names = [...writtenKeys(section)].map(([name]) => name.toLowerCase());
    assert.equal(new Set(names).size, names.length, section.title);
    for (const key of Object.values(section.keys)) {
      assert(key.shape === "one" || !key.item.secret, section.title);
    }
  }
});

for (const { section, name } of SECRETS) {
  const full = section.prefix + name;
  const file = fileKey(full);

  const forms: [form: string, text: string, value: string, sources: string[]][] = [
    ["in the configuration", `${full}=${SECRET}`, SECRET.trim(), ["c"]],
    ["in a variable", `${full}=\${THE_SECRET}`, SECRET.trim(), ["c"]],
    ["in a file", `${file}=secret`, SECRET, ["c", "secret"]],
    ["in a credential of systemd", `${file}=\${CREDENTIALS_DIRECTORY}/secret`, SECRET, ["c", "secret"]],
  ];
  if (section.anyCase) {
    const anyCase = section.prefix + fileKey(name).toUpperCase();
    forms.push(["in a file, by a key in another case", `${anyCase}=secret`, SECRET, ["c", "secret"]]);
  }
  for (const [form, text, value, sources] of forms) {
    Deno.test(`${full} is read ${form}`, async () => {
      const reading = await read(section, text);
      assert.deepEqual(shown(reading), []);
      assert.equal(reading.value, value);
      assert.deepEqual(reading.sources, sources);
      const [effective] = reading.effective.filter(({ secret }) => secret);
      assert.equal(effective?.value, value);
      for (const { value: open } of reading.effective.filter(({ secret }) => !secret)) {
        assert.doesNotMatch(open ?? "", /a secret/);
      }
    });
  }

  Deno.test(`${full} from a file loses only its final line end`, async () => {
    for (const end of ["", "\n", "\r\n"]) {
      assert.equal((await read(section, `${file}=secret`, { content: SECRET + end })).value, SECRET);
    }
  });

  const faults: [what: string, text: string, options: Parameters<typeof read>[2], expected: string][] = [
    ["besides the secret itself", `${file}=secret\n${full}=x`, {}, `expected either ${full} or ${file}`],
    ["that is empty", `${file}=secret`, { content: "" }, "expected a secret in /secret, the file is empty"],
    ["of a line end", `${file}=secret`, { content: "\n" }, "expected a secret in /secret, the file is empty"],
    [
      "with two lines",
      `${file}=secret`,
      { content: `${SECRET}\n${SECRET}\n` },
      "expected the secret alone in /secret, in one line",
    ],
    [
      "with bytes that are not text",
      `${file}=secret`,
      { content: new Uint8Array([0xe4, 0xf6]) },
      "cannot read /secret: expected UTF-8 text",
    ],
    [
      "too long",
      `${file}=secret`,
      { content: "x".repeat(65_537) },
      "cannot read /secret: expected at most 65536",
    ],
    ["that is missing", `${file}=gone`, {}, "cannot read /gone: there is no such file"],
    [
      "that is a folder",
      `${file}=secret`,
      { prepare: async (path) => (await Deno.remove(path), await Deno.mkdir(path)) },
      "cannot read /secret: it is a folder",
    ],
    [
      "that is a pipe",
      `${file}=secret`,
      {
        prepare: async (path) => {
          await Deno.remove(path);
          assert((await new Deno.Command("mkfifo", { args: [path] }).output()).success);
        },
      },
      "cannot read /secret: /secret is no regular file",
    ],
    ["without a name", `${file}=`, {}, "expected a path"],
    [
      "in a folder of an undefined variable",
      `${file}=\${NOWHERE}/secret`,
      {},
      "expected the variable NOWHERE to be defined, in the environment or as $var.NOWHERE",
    ],
  ];
  for (const [what, text, options, expected] of faults) {
    Deno.test(`${full} in a file ${what} is an error with file and line`, async () => {
      const reading = await read(section, text, options);
      const [told = "", ...others] = shown(reading);
      assert(told.startsWith(`error: /c:1: ${file}`) && told.includes(expected), told);
      assert.deepEqual(others, []);
      assert.equal(reading.value, undefined);
      assert.doesNotMatch(JSON.stringify(reading.diagnostics), /a secret =/);
    });
  }

  Deno.test(`${full} in a world-readable file gives a warning`, async () => {
    const [told = "", ...others] = shown(await read(section, `${file}=secret`, { mode: 0o644 }));
    assert.equal(
      told,
      `warning: /c:1: ${file}: every user of this machine can read this secret, expected: chmod o-r /secret`,
    );
    assert.deepEqual(others, []);
  });

  Deno.test(`${full}: a mistyped file key is refused with its name`, async () => {
    const wrong = `${full}Fiel`;
    const told = shown(await read(section, `${wrong}=secret`)).find((each) => each.includes(wrong)) ?? "";
    assert(told.includes(`${wrong}: `) && told.includes(`did you mean ${file}?`), told);
  });
}

Deno.test("a secret in a file must be long enough, and the message does not show it", async () => {
  const text = `${MINIMAL}container.security.rest.jwt.hmacSecretFile=conf/secret\n`;
  const { errors } = await loadText(text, { "conf/secret": "too short\n" });
  assert.deepEqual(errors, [
    `conf/c:${
      MINIMAL_LINES + 1
    }: container.security.rest.jwt.hmacSecretFile: expected a secret of at least 32 bytes`,
  ]);
});

Deno.test("a secret file belongs to the watched sources", async () => {
  const text = `${MINIMAL}container.security.credential.passwordFile=conf/secret\n`;
  const { config, errors } = await loadText(text, { "conf/secret": "of the key\n" });
  assert.deepEqual(errors, []);
  assert.equal(config?.credential?.password, "of the key");
  assert(config?.sources.all.includes("/conf/secret"));
});

Deno.test("a systemd credential that a command cannot access is an error with a remedy", async () => {
  const text = `${MINIMAL}persistence.passwordFile=\${CREDENTIALS_DIRECTORY}/database
persistence.class=PGSQLPersist
persistence.database=auth
persistence.user=auth
`;
  const { errors } = await loadText(text);
  assert.deepEqual(errors, [
    `conf/c:${
      MINIMAL_LINES + 1
    }: persistence.passwordFile: expected the variable CREDENTIALS_DIRECTORY to be defined, in the environment or as $var.CREDENTIALS_DIRECTORY`,
  ]);
});
