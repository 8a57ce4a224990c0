import assert from "node:assert/strict";
import { relative } from "node:path";

/*
 * Every parser of foreign text is fuzzed and timed. The exported functions of src are the list of parsers.
 * Test a new parser in a file of this folder, or add it to the list below with the reason.
 */

const SRC = new URL("../../src/", import.meta.url).pathname;
const FUZZ = new URL("./", import.meta.url).pathname;

/** Parsers that are not fuzzed by themselves, by file and name, with the reason. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ["authentication/password/password_table.ts: parsePasswordLine", "parsePasswordFile()"],
  ["authentication/password/stored_hash.ts: parseScrypt", "parsePasswordFile()"],
  ["authentication/ssh_key/authorized_keys.ts: parseSourceAddresses", "parseKeyLine()"],
  ["authentication/ssh_key/public_key.ts: decodeKeyBlob", "decodePublicKey()"],
  ["authentication/ssh_key/public_key.ts: decodeKey", "decodePublicKey()"],
  ["authentication/ssh_key/key_trial.ts: readSshToken", "parseSignedToken()"],
  ["authentication/unity/xml_element.ts: parseXml", "readSamlResponse()"],
  [
    "command/diagnosis/ssh/private_key.ts: readPrivateKey",
    "the caller's own key, in the caller's own process",
  ],
  ["model/clock.ts: parseDuration", "a word of the operator's command line"],
  ["config/properties.ts: decodeProperties", "bytes to text, before parseProperties()"],
  ["model/name_attribute_types.ts: decodeText", "parseName()"],
  ["model/name_attribute_types.ts: decodeStrictly", "parseName()"],
  ["model/diagnostic.ts: readableAt", "makes a sentence, and reads nothing"],
  ["model/edit_file.ts: readText", "reads a file, and leaves the text as it is"],
  ["resource/share/share_fields.ts: parseFlag", "parseShareFields()"],
  ["resource/share/share_fields.ts: parseLifetime", "parseShareFields()"],
  ["resource/share/share_fields.ts: parseSources", "parseShareFields()"],
  ["resource/share/share_fields.ts: parseNote", "parseShareFields()"],
  ["resource/share/share_fields.ts: parsePassword", "parseShareFields()"],
  ["command/files/migration/java_installation.ts: readFiles", "finds files, and leaves them as they are"],
  [
    "command/files/backup.ts: readManifest",
    "the operator's own backup; tests/system/backup_test.ts damages it",
  ],
  ["command/diagnosis/inspect.ts: inspect", "parseProperties(), told to the operator"],
  ["command/diagnosis/inspect.ts: inspect", "inspectStart()"],
  ["sharing/share.ts: parseAccessLevel", "parseShareFields()"],
  ["sharing/import/csv_rows.ts: csvRows", "readShareDump()"],
  ["resource/access/opened_share.ts: decodedSegment", "containedPath()"],
  ["config/tls/pkcs12_certificates.ts: readPkcs12", "certificatesOfPkcs12()"],
  ["model/regular_file.ts: readRegularFile", "reads a file, and leaves the bytes as they are"],
  ["model/regular_file.ts: readRegularFileSync", "reads a file, and leaves the bytes as they are"],
  ["attributes/file/map_inspection.ts: inspectMapFile", "readMapFile(), told to the operator"],
  ["service/assembly/certificate_files.ts: readTrustedIssuer", "certificatesOfPem()"],
  ["service/assembly/certificate_files.ts: readGatewayCertificate", "certificatesOfPem()"],
  ["outgoing/ldap/ldap_directory.ts: inspectFilter", "fillFilter(), told to the operator"],
  ["model/regular_file.ts: inspectFile", "reads a file for others"],
  [
    "authentication/password/password_table.ts: inspectPasswordFile",
    "parsePasswordFile(), told to the operator",
  ],
]);

/** Exported function that is named like a parser and takes text or bytes first. */
const PARSER =
  /^export (?:async )?function\*? ((?:parse|read|decode|split|inspect|certificatesOf|csv)\w*)\(\s*\{?\s*\w+: (?:string|Uint8Array|Buffer|HeaderReader|URLSearchParams|readonly string\[\]|unknown)\b/gm;

async function filesBelow(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) found.push(...await filesBelow(`${folder}${name}/`));
    else if (name.endsWith(".ts")) found.push(`${folder}${name}`);
  }
  return found;
}

async function parsers(): Promise<{ place: string; name: string }[]> {
  const found: { place: string; name: string }[] = [];
  for (const path of await filesBelow(SRC)) {
    for (const [, name = ""] of (await Deno.readTextFile(path)).matchAll(PARSER)) {
      found.push({ place: `${relative(SRC, path)}: ${name}`, name });
    }
  }
  return found;
}

Deno.test("every exported parser of text is fuzzed and timed, or is called by one that is", async () => {
  const tests = (await Promise.all(
    (await filesBelow(FUZZ)).filter((path) =>
      path.endsWith("_test.ts") && !path.endsWith("/every_parser_test.ts")
    )
      .map((path) => Deno.readTextFile(path)),
  )).join("\n");
  const all = await parsers();
  assert(all.length > 40, "the parsers are not found any more");
  const missing = all.filter(({ place, name }) =>
    !ELSEWHERE.has(place) && !new RegExp(`\\b${name}\\b`).test(tests)
  );
  assert.deepEqual(missing.map(({ place }) => place), []);
  const places = new Set(all.map(({ place }) => place));
  assert.deepEqual(
    [...ELSEWHERE.keys()].filter((place) => !places.has(place)),
    [],
    "nothing is listed that is gone",
  );
});
