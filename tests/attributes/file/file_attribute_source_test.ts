import assert from "node:assert/strict";
import { fileAttributeSource, type Matching } from "../../../src/attributes/file/file_attribute_source.ts";
import { inspectMap } from "../../../src/attributes/file/map_inspection.ts";
import { createLogger, SILENT } from "../../../src/logging/logger.ts";
import { NO_ATTRIBUTES } from "../../../src/model/attributes.ts";
import { escapeNameValue } from "../../../src/model/distinguished_name.ts";
import { InvalidFile } from "../../../src/model/diagnostic.ts";
import { processorTime } from "../../model/processor_time.ts";
import { attributeSet, identity, type Subject, testAttributeSource } from "../conformance.ts";

const signal = new AbortController().signal;

async function subject(
  text: string | Uint8Array,
  matching: Matching = "strict",
  log = SILENT,
): Promise<Subject & { file: string }> {
  const file = await Deno.makeTempFile({ suffix: ".map" });
  await Deno.writeFile(file, typeof text === "string" ? new TextEncoder().encode(text) : text);
  const source = await fileAttributeSource({ name: "FILE", file, matching, log, intervalMs: 10 })
    .catch(async (error) => {
      await Deno.remove(file);
      throw error;
    });
  // The watcher does not keep the process alive.
  const alive = setInterval(() => {}, 1000);
  return {
    source,
    file,
    [Symbol.asyncDispose]: async () => {
      source.close();
      clearInterval(alive);
      await Deno.remove(file).catch(() => {});
    },
  };
}

const fixture = (name: string) =>
  Deno.readTextFile(new URL(`../../fixtures/attributes/${name}`, import.meta.url));

const ANN = attributeSet(
  { role: ["user"], xlogin: ["a1001", "a1002"], group: ["proj1", "proj2"], supplementaryGroups: ["fast"] },
  {
    "uftpd.ALPHA.xlogin": ["alpha7"],
    "uftpd.ALPHA.rateLimit": ["200M"],
    "uftpd.ALPHA.includes": ["/data/*:/scratch/*"],
  },
);

for (const file of ["variant_a.json", "variant_b.xml"]) {
  testAttributeSource({
    name: `fileAttributeSource() of ${file}`,
    create: async () => await subject(await fixture(file)),
    configuredName: "FILE",
    known: identity("CN=Ann Example, OU=Lab 2, O=Site-A, C=DE"),
    knownOtherwise: identity("cn=ann  EXAMPLE,ou=lab 2,o=Site-A ,c=de"),
    attributes: ANN,
    unknown: identity("CN=Eve, O=Site-A, C=DE"),
  });
}

testAttributeSource({
  name: "fileAttributeSource() with patterns",
  create: () => subject('{"cn=ann.*, ?o=site-a.*": {"role": "user"}}', "regexp"),
  configuredName: "FILE",
  known: identity("CN=Ann Example,O=Site-A,C=DE"),
  knownOtherwise: identity("cn=ANN example , o=SITE-A,c=de"),
  attributes: attributeSet({ role: ["user"] }),
  unknown: identity("CN=Eve,O=Site-A"),
});

Deno.test("fileAttributeSource() uses the last of two entries for one name, and logs it", async () => {
  const lines: string[] = [];
  await using made = await subject(
    '{"CN=Ann": {"role": "user"},\n"cn=ann ": {"role": "banned"}}',
    "strict",
    createLogger((line) => lines.push(line)),
  );
  assert.deepEqual(
    await made.source.attributesOf(identity("CN=Ann"), signal),
    attributeSet({ role: ["banned"] }),
  );
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /warn .*:2: cn=ann : expected each name once; line 1 names the same user/);
});

Deno.test("fileAttributeSource() uses the first of several matching patterns in the file", async () => {
  const entries = ["cn=b.*", "cn=a.*", "cn=.*"].map((key, i) => [key, i]);
  const json = `{${entries.map(([key, i]) => `"${key}": {"role": "r${i}"}`).join()}}`;
  const xml = `<fileAttributeSource>${
    entries.map(([key, i]) =>
      `<entry key="${key}"><attribute name="role"><value>r${i}</value></attribute></entry>`
    ).join("")
  }</fileAttributeSource>`;
  for (const text of [json, xml]) {
    await using made = await subject(text, "regexp");
    for (
      const [dn, role] of [["CN=Bob", "r0"], ["CN=Ann", "r1"], ["CN=Eve", "r2"], ["CN=Bob", "r0"]] as const
    ) {
      assert.deepEqual(await made.source.attributesOf(identity(dn), signal), attributeSet({ role: [role] }));
    }
  }
});

Deno.test("fileAttributeSource() refuses to start with keys that are neither names nor patterns", async () => {
  const rejects = (text: string, matching: Matching, message: RegExp) =>
    assert.rejects(
      () => subject(text, matching),
      (error) => error instanceof InvalidFile && message.test(error.message),
    );
  await rejects(
    '{\n"demouser": {}}',
    "strict",
    /:2: demouser: expected a distinguished name: expected an attribute/,
  );
  await rejects('{\n"cn=(": {}}', "regexp", /:2: cn=\(: expected \) \(at character 5 of the pattern\)/);
});

Deno.test("fileAttributeSource() fails closed for a name it cannot read", async () => {
  await using made = await subject("{}");
  await assert.rejects(() => made.source.attributesOf(identity("ann"), signal), {
    code: "ERR_USER_ATTRIBUTE",
    status: 500,
  });
});

/** Replaces a file in one step, so that nobody reads half of it. */
async function replace(file: string, text: string): Promise<void> {
  await Deno.writeTextFile(`${file}.new`, text);
  await Deno.rename(`${file}.new`, file);
}

Deno.test("fileAttributeSource() reloads the file after changes of content and format", async () => {
  const reread = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const refused = Promise.withResolvers<string>();
  const log = createLogger((line, level) => {
    if (level === "error") refused.resolve(line);
    if (line.includes("file read again")) reread.shift()?.resolve();
  });
  await using made = await subject('{"CN=Ann": {"role": "user"}}', "strict", log);
  const role = () => made.source.attributesOf(identity("CN=Ann"), signal);
  assert.deepEqual(await role(), attributeSet({ role: ["user"] }));

  const first = reread[0]?.promise;
  await replace(
    made.file,
    '<fileAttributeSource><entry key="CN=Ann"><attribute name="role"><value>admin</value></attribute></entry></fileAttributeSource>',
  );
  await first;
  assert.deepEqual(await role(), attributeSet({ role: ["admin"] }));

  await replace(made.file, '{"CN=Ann":\n {"role": 5}}');
  assert.match(await refused.promise, /last good content stays.*:2: CN=Ann: role = 5/);
  assert.deepEqual(await role(), attributeSet({ role: ["admin"] }));

  const second = reread[0]?.promise;
  await replace(made.file, "{}");
  await second;
  assert.deepEqual(await role(), NO_ATTRIBUTES);
});

Deno.test("fileAttributeSource() reads XML that declares ISO-8859-1, as the operator's check does", async () => {
  const text = '<?xml version="1.0" encoding="ISO-8859-1"?>\n<fileAttributeSource><entry key="CN=Jörg">' +
    '<attribute name="role"><value>user</value></attribute></entry></fileAttributeSource>';
  await using made = await subject(Uint8Array.from(text, (sign) => sign.charCodeAt(0)));
  assert.deepEqual(
    await made.source.attributesOf(identity("CN=Jörg"), signal),
    attributeSet({ role: ["user"] }),
  );
  const map = { file: made.file, matching: "strict", format: undefined } as const;
  const { diagnostics } = await inspectMap(map, { servers: [], alone: false });
  assert.deepEqual(diagnostics, []);
});

Deno.test("fileAttributeSource() refuses a file that is far too long before reading it", async () => {
  const file = await Deno.makeTempFile();
  await Deno.truncate(file, 100 * 1024 * 1024);
  const took = await processorTime(() =>
    assert.rejects(
      () => fileAttributeSource({ name: "FILE", file, matching: "strict", log: SILENT }),
      InvalidFile,
    )
  );
  assert.ok(took < 500, `${took} ms`);
  await Deno.remove(file);
});

/** Values of claims that look like other parts of a name. */
const LIKE_PARTS = [
  ...["Eve,OU=Admins", "Eve, OU=Admins", "Eve\uff0cOU=Admins", "Eve+OU=Admins", "Eve;OU=Admins"],
  ...['Eve",OU=Admins', "Eve\\,OU=Admins", "Eve\\", "#Eve,OU=Admins", "Eve\n,OU=Admins", "OU=Admins"],
];

Deno.test("fileAttributeSource() matches no separator of parts inside a value, whatever the pattern", async () => {
  const patterns = [
    ...["CN=.*, ?OU=Admins, ?O=Site, ?C=DE", "CN=[^,]+,OU=Admins,O=Site,C=DE", ".*OU=Admins.*"],
    ...["CN=[^,+]*[,+;]OU=Admins,.*", "CN=.*[^a-z]OU=Admins.*", "CN=.*\\\\,OU=Admins.*,C=DE", ".*,OU=.*"],
  ];
  for (const pattern of patterns) {
    await using made = await subject(JSON.stringify({ [pattern]: { role: "admin" } }), "regexp");
    for (const value of LIKE_PARTS) {
      const dn = `CN=${escapeNameValue(value)},O=Site,C=DE`;
      assert.deepEqual(
        await made.source.attributesOf(identity(dn), signal),
        NO_ATTRIBUTES,
        `${pattern} | ${dn}`,
      );
    }
  }
});

Deno.test("fileAttributeSource() matches patterns with escaped separators in values, in the old and the new spelling", async () => {
  for (const pattern of ["CN=Doe\\\\, Ann,O=Site", "CN=Doe\\\\2c Ann,O=Site", "CN=[^,+]*,O=Site"]) {
    await using made = await subject(JSON.stringify({ [pattern]: { role: "user" } }), "regexp");
    const found = await made.source.attributesOf(identity("CN=Doe\\, Ann,O=Site"), signal);
    assert.deepEqual(found, attributeSet({ role: ["user"] }), pattern);
  }
});

Deno.test("fileAttributeSource() matches patterns with = in a value, as in all versions", async () => {
  const patterns = ["CN=Ann=1,O=Site", "CN=[^,+]*=1,O=Site", "CN=Ann\\\\=1,O=Site", "(?:CN=Ann=1),O=Site"];
  for (const pattern of patterns) {
    await using made = await subject(JSON.stringify({ [pattern]: { role: "banned" } }), "regexp");
    const roleOf = (dn: string) => made.source.attributesOf(identity(dn), signal);
    const banned = attributeSet({ role: ["banned"] });
    assert.deepEqual(await roleOf("CN=Ann=1,O=Site"), banned, pattern);
    assert.deepEqual(await roleOf("CN=Ann,O=1,O=Site"), NO_ATTRIBUTES, pattern);
  }
});
