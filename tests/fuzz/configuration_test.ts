/** Texts that operators write or bring: configuration, users, keys, maps, reservations, stores, dumps of shares. */
import assert from "node:assert/strict";
import { readMapEntry, readMapFile } from "../../src/attributes/file/map_file.ts";
import { InvalidPattern, parsePattern } from "../../src/attributes/file/linear_pattern.ts";
import { withRemedy } from "../../src/command/diagnosis/fix.ts";
import { inspectStart } from "../../src/command/diagnosis/inspect.ts";
import { parsePasswordFile } from "../../src/authentication/password/password_table.ts";
import { parseKeysFile } from "../../src/authentication/ssh_key/keys_file.ts";
import { UnexpectedValue } from "../../src/config/key.ts";
import { parseProperties } from "../../src/config/properties.ts";
import { readSecretFile } from "../../src/config/key_reader.ts";
import { certificatesOfPkcs12 } from "../../src/config/tls/pkcs12_certificates.ts";
import { UnusableStore } from "../../src/config/tls/certificates.ts";
import { InvalidJson, readMembers } from "../../src/model/json_text.ts";
import { InvalidFile, isError } from "../../src/model/diagnostic.ts";
import { parseRate } from "../../src/model/rate.ts";
import { readReservationFile } from "../../src/reservations/reservation_file.ts";
import { readShareDump } from "../../src/sharing/import/share_dump.ts";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import { createSite } from "../system/running_service.ts";
import { fuzz } from "./fuzz.ts";
import { hostileBytes, hostileText } from "./hostile_text.ts";
import { asItIs, DER_FORMS, distinct, FILE, JSON_FORMS, KIB, latin1, XML_FORMS } from "./shapes.ts";

const MAP_JSON = `{
  "CN=Ann, C=DE": { "role": "user", "xlogin": ["ann", "ann2"], "uftpd.HPC.rateLimit": "10M" },
  "CN=.*, C=FR": { "role": "banned" }
}`;
const MAP_XML = `<?xml version="1.0"?>
<fileAttributeSource><!-- us --><entry key="CN=Ann, C=DE"><attribute name="role"><value>user</value></attribute>
<attribute name="xlogin"><value>ann</value><value>ann2</value></attribute></entry></fileAttributeSource>`;

/** Parses a map to its last entry. */
async function readMap(text: string, format: "JSON" | "XML"): Promise<void> {
  await readMapFile(text, { file: "map", format, take: () => {} });
}

/** PKCS #12 store without encryption, and without the integrity check, which would refuse every change. */
const STORE = await Deno.readFile(new URL("../config/tls/fixtures/trust-plain.p12", import.meta.url));
const STORE_END = 7 + 4 + new DataView(STORE.buffer).getUint16(9); // end of the second of three parts
const OPEN_STORE = STORE.slice(0, STORE_END);
new DataView(OPEN_STORE.buffer).setUint16(2, STORE_END - 4);

fuzz({
  name: "parseProperties()",
  input: hostileText(
    "a.b = c\\\n  d\nx\\:y:z\n# no\n! no\nk\\u0041=\\t\\u00e4",
    "container.port=9000\r\n\r\nq",
  ),
  parse: (text) => parseProperties(text, "file"),
  growth: { longest: FILE, forms: ["…", "a=…", "a=…\nb=1", distinct((n) => `k${n}=v\n`)], input: asItIs },
});
const site = await createSite();
Deno.test.afterAll(() => site[Symbol.asyncDispose]());
const CONFIGURATION = await Deno.readTextFile(site.main);
fuzz({
  name: "inspectStart()",
  input: hostileText(CONFIGURATION, `${CONFIGURATION}persistence.directory=${site.folder}/data\n`),
  parse: async (text) => {
    await Deno.writeTextFile(site.main, text, { mode: 0o600 });
    const { snapshot, diagnostics } = await inspectStart(site.main);
    assert.equal(snapshot === undefined, diagnostics.some(isError), JSON.stringify(diagnostics));
    diagnostics.forEach((diagnostic) => assert.notEqual(withRemedy(diagnostic), ""));
    if (snapshot === undefined) throw new InvalidFile(diagnostics);
  },
  throws: [InvalidFile],
  cost: 20,
  growth: { longest: FILE, forms: ["…", "a=…", distinct((n) => `k${n}=v\n`)], input: asItIs },
});
const SECRET = await Deno.makeTempFile();
Deno.test.afterAll(() => Deno.remove(SECRET));
fuzz({
  name: "readSecretFile()",
  input: hostileText("a secret\n", "a secret\r\n", "two\nlines"),
  parse: (text) => {
    Deno.writeTextFileSync(SECRET, text);
    assert.doesNotMatch(readSecretFile(SECRET), /^\s*$|[\r\n\0]/);
  },
  throws: [UnexpectedValue],
  cost: 10,
  growth: { longest: 64 * KIB, forms: ["…", "a\n…"], input: asItIs },
});
fuzz({
  name: "parsePasswordFile()",
  input: hostileText(
    "# users\nann:447abe86dd2c12ca422693a3089de5c6:Rk3_vT8mZq0LxN5w:CN=Ann, C=DE\n",
    "bob:$scrypt$ln=14,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g::CN=Bob\n",
  ),
  parse: (text) => parsePasswordFile(text, "file"),
  growth: {
    longest: FILE,
    forms: ["…", "ann:…", "ann:x:…", "ann:$scrypt$…:x", distinct((n) => `u${n}:x:y:CN=a\n`)],
    input: asItIs,
  },
});
fuzz({
  name: "parseKeysFile()",
  input: hostileText(
    `ann:${publicLine("user_ed25519")}:CN=Ann\n#\nbob:from="10.0.0.0/8" ${publicLine("user_rsa2048")}:CN=Bob`,
  ),
  parse: (text) => parseKeysFile(text, "file"),
  growth: {
    longest: FILE,
    forms: ["…", "ann:…", `ann:${publicLine("user_ed25519")}:CN=…`, distinct((n) => `u${n}:x:CN=a\n`)],
    input: asItIs,
  },
});
fuzz({
  name: "readMapFile() of JSON",
  input: hostileText(MAP_JSON),
  parse: (text) => readMap(text, "JSON"),
  throws: [InvalidFile],
  growth: { longest: FILE, forms: JSON_FORMS, input: asItIs },
});
fuzz({
  name: "readMapFile() of XML",
  input: hostileText(MAP_XML),
  parse: (text) => readMap(text, "XML"),
  throws: [InvalidFile],
  growth: { longest: FILE, forms: XML_FORMS, input: asItIs },
});
fuzz({
  name: "readMapEntry()",
  input: hostileText(
    '"CN=Ann": {"role":"user"}',
    '<entry key="CN=a"><attribute name="role"><value>u</value></attribute></entry>',
  ),
  parse: (text) => {
    try {
      readMapEntry(text);
    } catch (error) {
      assert(
        error instanceof Error && /^(?:InvalidJson|InvalidXml)$/.test(error.constructor.name),
        String(error),
      );
    }
  },
  growth: {
    longest: FILE,
    forms: ['"CN=a": …', '"CN=a": {"role":"…"}', '<entry key="…"/>', "<entry>…"],
    input: asItIs,
  },
});
fuzz({
  name: "parsePattern()",
  input: hostileText("CN=(Ann|Bob)[^,]{1,9}, (?:O=\\w+)?.*", "^CN=.+?,\\s*C=D[EF]$", "\\QCN=a.b\\E.*"),
  parse: parsePattern,
  throws: [InvalidPattern],
  growth: { longest: 64 * KIB, forms: ["…", "[…]", "(…)", "a{…}", "(?:…"], input: asItIs },
});
fuzz({
  name: "readMembers() of JSON",
  input: hostileText(MAP_JSON, '{"a":[1,-2.5e3,true,null,"\\u00e4\\n",{"b":{}}]}'),
  parse: (text) => [...readMembers(text)],
  throws: [InvalidJson],
  growth: { longest: FILE, forms: JSON_FORMS, input: asItIs },
});
fuzz({
  name: "readReservationFile()",
  input: hostileText(
    `{"reservations":[{"name":"night","from":"2026-01-05 20:00","to":"2026-01-05T23:00+0100","uids":["ann"],"rateLimit":"10m"}]}`,
  ),
  parse: (text) => readReservationFile(text, { file: "file", zone: "Europe/Berlin", now: 1_800_000_000_000 }),
  throws: [InvalidFile],
  growth: {
    longest: FILE,
    forms: [
      ...JSON_FORMS,
      '{"reservations":[…]}',
      '{"reservations":[{"name":"a","uids":["…"]}]}',
      '{"reservations":[{"from":"…"}]}',
      '{"reservations":[{"rateLimit":"…"}]}',
      (length) => `{"reservations":[${"{},".repeat(length / 3)}{}]}`,
    ],
    input: asItIs,
  },
});
fuzz({
  name: "parseRate()",
  input: hostileText("10M", "209715200", "1.5 g"),
  parse: parseRate,
  growth: { longest: 64 * KIB, forms: ["…", "1…", "1.…m"], input: asItIs },
});
fuzz({
  name: "certificatesOfPkcs12()",
  input: hostileBytes(OPEN_STORE),
  parse: (bytes) => certificatesOfPkcs12(bytes, "password"),
  throws: [UnusableStore],
  growth: { longest: FILE, forms: DER_FORMS, input: latin1 },
});
fuzz({
  name: "readShareDump()",
  input: hostileText(
    'path,ownerID,uid,targetID,access\n/a/b,"CN=Ann, C=DE",ann,CN=Bob,READ\n',
    '[{"path":"/a","ownerID":"CN=Ann","uid":"ann","targetID":"CN=Bob","expires":"1800000000"}]',
    "-- H2\nINSERT INTO \"SHARES\" VALUES\n('a', STRINGDECODE('{\\\"path\\\":\\\"/a\\u00e4\\\"}')), ('b', U&'{\\00e4}', NULL);\n",
    '-- MySQL\nCOPY public.shares (id, data) FROM stdin;\na\t{"path":"/a\\\\u00e4"}\n\\.\n',
  ),
  parse: (text) => readShareDump(text, { file: "dump", server: "HPC", servers: ["HPC"], now: 0 }),
  throws: [InvalidFile],
  growth: {
    longest: FILE,
    forms: [
      "…",
      "path,ownerID,uid,targetID\n…",
      "-- H2\nINSERT INTO X VALUES …",
      "-- M\nINSERT INTO X VALUES ('a', '…')",
      "-- H2\nINSERT INTO X VALUES ('a', U&'…",
      "-- PG\nCOPY x FROM stdin;\n…",
      "path,ownerID,uid,targetID\n/a,CN=a,a,…",
      "[…]",
      '[{"path":"…"}]',
      'a,"…"',
      (length) => `${"a,".repeat(length / 4)}b\n${"a,".repeat(length / 4)}b`,
      (length) => '"\n",'.repeat(length / 4),
    ],
    input: asItIs,
  },
});
