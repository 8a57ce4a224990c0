import assert from "node:assert/strict";
import { type Loaded, loadText, MINIMAL, MINIMAL_LINES } from "./load_fixture.ts";

const PREFIX = "container.security.attributes.";

async function load(...lines: string[]): Promise<Loaded> {
  const text = MINIMAL +
    lines.map((line) => line.startsWith("container.") ? line : `${PREFIX}${line}`).join("\n");
  const { config, errors, warnings } = await loadText(text, { "conf/map": "{}" });
  const short = (message: string) =>
    message.replace(/^conf\/c:(\d+)/, (_, line) => `${+line - MINIMAL_LINES}`).replaceAll(PREFIX, "");
  return { config, errors: errors.map(short), warnings: warnings.map(short) };
}

const FILE = {
  kind: "FileAttributeSource",
  name: "FILE",
  optional: false,
  file: "/conf/map",
  matching: "strict",
};
const XUUDB = {
  kind: "XUUDBAttributeSource",
  name: "XUUDB",
  optional: false,
  address: "https://localhost:34463",
  gcid: "SITE",
  cache: true,
};

Deno.test("readAttributes() has no sources by default", async () => {
  const { config } = await load();
  assert.deepEqual(config?.attributes, { sources: [], policy: "MERGE_LAST_OVERRIDES" });
  assert.deepEqual(config?.dynamicAttributes, { sources: [], policy: "MERGE_LAST_OVERRIDES" });
});

const GOOD: [what: string, lines: string[], source: unknown][] = [
  ["a map file", ["order=FILE", "FILE.file=conf/map"], FILE],
  ["all parameters of a map file", [
    "order=MAP",
    "MAP.class=eu.unicore.uas.security.file.FileAttributeSource",
    "MAP.File=conf/map",
    "MAP.matching=REGEXP",
    "MAP.format=xml",
    "MAP.optional=true",
  ], { ...FILE, name: "MAP", matching: "regexp", format: "XML", optional: true }],
  ["an XUUDB", ["order=XUUDB", "XUUDB.xuudbGCID=SITE"], XUUDB],
  ["all parameters of an XUUDB", [
    "order=J",
    "J.class=eu.unicore.services.aip.xuudb.XUUDBJSONAttributeSource",
    "J.xuudbHost=https://[2001:db8::1]",
    "J.xuudbPort=1234",
    "J.xuudbGCID=SITE",
    "J.xuudbCache=no",
  ], {
    ...XUUDB,
    kind: "XUUDBJSONAttributeSource",
    name: "J",
    address: "https://[2001:db8::1]:1234",
    cache: false,
  }],
  ["an XUUDB by its old name", [
    "order=XUUDB",
    "XUUDB.class=eu.unicore.uas.security.xuudb.XUUDBAuthoriser",
    "XUUDB.xuudbGCID=SITE",
  ], XUUDB],
  ["attributes from authentication", [
    "order=AUTO",
    "AUTO.class=eu.unicore.services.security.AuthAttributesCollector",
  ], { kind: "AuthAttributesCollector", name: "AUTO" }],
  ["the same under its name in variant B", [
    "order=PAM",
    "PAM.class=eu.unicore.services.rest.security.PAMAttributeSource",
  ], { kind: "AuthAttributesCollector", name: "PAM" }],
  ["a nested chain", [
    "order=BOTH",
    "BOTH.class=eu.unicore.services.security.util.AttributeSourcesChain",
    "BOTH.order=XUUDB | FILE",
    "BOTH.combiningPolicy=first_accessible",
    "FILE.file=conf/map",
    "XUUDB.xuudbGCID=SITE",
  ], {
    kind: "AttributeSourcesChain",
    name: "BOTH",
    optional: false,
    sources: [XUUDB, FILE],
    policy: "FIRST_ACCESSIBLE",
  }],
];

for (const [what, lines, source] of GOOD) {
  Deno.test(`readAttributes() reads ${what}`, async () => {
    const { config, errors, warnings } = await load(...lines);
    assert.deepEqual({ errors, warnings }, { errors: [], warnings: [] });
    assert.deepEqual(config?.attributes.sources, [source]);
  });
}

Deno.test("readAttributes() reads every policy in any case", async () => {
  for (const policy of ["MERGE_LAST_OVERRIDES", "Merge", "first_applicable", "FIRST_ACCESSIBLE"]) {
    assert.equal((await load(`combiningPolicy=${policy}`)).config?.attributes.policy, policy.toUpperCase());
  }
});

Deno.test("readDynamicAttributes() reads the same below its own prefix", async () => {
  const dynamic = "container.security.dynamicAttributes";
  const { config, errors } = await load(`${dynamic}.order=FILE`, `${dynamic}.FILE.file=conf/map`);
  assert.deepEqual(errors, []);
  assert.deepEqual(config?.dynamicAttributes.sources, [FILE]);
  assert.deepEqual(config?.attributes.sources, []);
});

const NOT_SUPPORTED = "not supported, expected a map file (FileAttributeSource), an XUUDB or LDAP";

const BAD: [what: string, lines: string[], errors: string[]][] = [
  ["an unknown policy", ["combiningPolicy=BEST"], [
    "1: combiningPolicy = BEST: expected one of MERGE_LAST_OVERRIDES, MERGE, FIRST_APPLICABLE, FIRST_ACCESSIBLE",
  ]],
  ["a name without class", ["order=FIEL", "FIEL.file=conf/map"], [
    "1: order: expected FIEL.class too, since FIEL has no default class, did you mean FILE?",
  ]],
  ["an unknown class", ["order=FILE", "FILE.class=a.FileAttributeSorce"], [
    "2: FILE.class = FileAttributeSorce: expected one of the classes FileAttributeSource, XUUDBAttributeSource, " +
    "XUUDBAuthoriser, XUUDBJSONAttributeSource, LDAPAttributeSource, AuthAttributesCollector, PAMAttributeSource, AttributeSourcesChain, " +
    "did you mean FileAttributeSource?",
  ]],
  ["SAML", ["order=SAML"], [`1: order: SAML attribute queries are ${NOT_SUPPORTED}`]],
  ["a grid map file", ["order=GRIDMAP-FILE", "GRIDMAP-FILE.file=x"], [
    `1: order: grid map files are ${NOT_SUPPORTED}`,
  ]],
  ["LDAP without servers", [
    "order=L",
    "L.class=eu.unicore.services.aip.ldap.LDAPAttributeSource",
    "L.userBase=o=x",
  ], [
    "2: L.address: missing, expected names, separated by blanks, | or ,",
  ]],
  ["a map file that is not configured", ["order=FILE"], [
    "1: FILE.file: missing, expected a path, relative ones start from the working directory",
  ]],
  ["a missing map file", ["order=FILE", "FILE.file=none"], [
    "2: FILE.file: cannot read /none: there is no such file",
  ]],
  ["an unknown matching mode", ["order=FILE", "FILE.file=conf/map", "FILE.matching=glob"], [
    "3: FILE.matching = glob: expected one of strict, regexp",
  ]],
  ["an unknown format", ["order=FILE", "FILE.file=conf/map", "FILE.format=YAML"], [
    "3: FILE.format = YAML: expected one of JSON, XML",
  ]],
  ["an XUUDB without GCID", ["order=XUUDB"], ["1: XUUDB.xuudbGCID: missing, expected text"]],
  ["an XUUDB without scheme", ["order=XUUDB", "XUUDB.xuudbGCID=S", "XUUDB.xuudbHost=xuudb"], [
    "3: XUUDB.xuudbHost = xuudb: expected a URL that begins with https:// or http://",
  ]],
  ["an unencrypted XUUDB", ["order=XUUDB", "XUUDB.xuudbGCID=S", "XUUDB.xuudbHost=http://x"], [
    "3: XUUDB.xuudbHost = http://x: expected https://, or XUUDB.allowPlainHttp=true to send secrets unencrypted",
  ]],
  ["an XUUDB with two ports", ["order=XUUDB", "XUUDB.xuudbGCID=S", "XUUDB.xuudbHost=https://x:1"], [
    "3: XUUDB.xuudbHost = https://x:1: expected https:// and a host, the port is in xuudbPort",
  ]],
  ["a chain that contains itself", [
    "order=A",
    "A.class=x.AttributeSourcesChain",
    "A.order=B",
    "B.class=x.AttributeSourcesChain",
    "B.order=A",
  ], ["5: B.order: expected a chain that does not contain itself: A > B > A"]],
  ["a dynamic XUUDB", [
    "container.security.dynamicAttributes.order=X",
    "container.security.dynamicAttributes.X.class=eu.unicore.services.aip.xuudb.XUUDBDynamicAttributeSource",
  ], [
    "2: container.security.dynamicAttributes.X.class = XUUDBDynamicAttributeSource: " +
    `the dynamic XUUDB is ${NOT_SUPPORTED}`,
  ]],
  ["a mistyped parameter", ["order=FILE", "FILE.file=conf/map", "FILE.machting=strict"], [
    "3: FILE.machting: unknown key, did you mean FILE.matching?",
  ]],
  ["a parameter that no source has", ["order=FILE", "FILE.file=conf/map", "FILE.readOnly=true"], [
    "3: FILE.readOnly: unknown key",
  ]],
];

for (const [what, lines, errors] of BAD) {
  Deno.test(`readAttributes() refuses ${what}`, async () => {
    const loaded = await load(...lines);
    assert.deepEqual(loaded.errors, errors);
    assert.deepEqual(loaded.warnings, []);
    assert.equal(loaded.config, undefined);
  });
}

const DOUBTFUL: [what: string, lines: string[], warnings: string[]][] = [
  ["sources that are not in the order", ["FILE.file=conf/map", "FILE.matching=x"], [
    "1: FILE.file: not used, FILE is not in order",
  ]],
  ["unknown parameters of the automatic source", ["order=PAM", "PAM.file=x"], ["2: PAM.file: unknown key"]],
];

for (const [what, lines, warnings] of DOUBTFUL) {
  Deno.test(`readAttributes() warns about ${what}`, async () => {
    const loaded = await load(...lines);
    assert.deepEqual(loaded.errors, []);
    assert.deepEqual(loaded.warnings, warnings);
    assert.ok(loaded.config);
  });
}
