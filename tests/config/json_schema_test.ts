/** Compares the JSON Schema of the configuration with what the service itself reads. */
import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import { runCommand } from "../../src/command/run_command.ts";
import { configurationSchema } from "../../bin/docs/configuration_schema.ts";
import { parseProperties } from "../../src/config/properties.ts";
import { writtenKeys } from "../../bin/docs/written_keys.ts";
import { sections } from "../../bin/docs/sections.ts";
import { KINDS } from "../../src/service/kinds.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { MINIMAL } from "./load_fixture.ts";

const SCHEMA: Readonly<Record<string, unknown>> = JSON.parse(
  JSON.stringify(await configurationSchema(KINDS)),
);
const SECTIONS = await sections(KINDS);
const validate = new Ajv2020({ strictTypes: false, allowMatchingProperties: true, allErrors: true })
  .compile(SCHEMA);

/** Returns the errors that the schema finds, as key and rule. */
function faults(values: Readonly<Record<string, unknown>>): string[] {
  validate(values);
  return (validate.errors ?? []).map(({ instancePath, keyword, params }) =>
    `${instancePath.slice(1)}${
      keyword === "additionalProperties" ? params.additionalProperty : ""
    }: ${keyword}`
  );
}

const valuesOf = (text: string) =>
  Object.fromEntries(parseProperties(text, "file").entries.map(({ key, value }) => [key, value]));

Deno.test("config schema prints the JSON Schema (draft 2020-12), with and without --json", async () => {
  for (const args of [["config", "schema"], ["config", "schema", "--json"]]) {
    const io = recordedIo();
    assert.equal(await runCommand(args, io), 0);
    assert.deepEqual(JSON.parse(io.out), SCHEMA);
    assert.equal(SCHEMA.$schema, "https://json-schema.org/draft/2020-12/schema");
  }
});

const CONF = new URL("../../conf/", import.meta.url);
for (const name of ["container.properties", "startup.properties"]) {
  Deno.test(`conf/${name} conforms to the schema, also with its suggestions`, async () => {
    const text = await Deno.readTextFile(new URL(name, CONF));
    assert.deepEqual(faults(valuesOf(text)), []);
    const suggested = text.replace(/^#(?=[\w.]+=\S)/gm, "");
    assert(Object.keys(valuesOf(suggested)).length >= Object.keys(valuesOf(text)).length);
    assert.deepEqual(faults(valuesOf(suggested)), []);
  });
}

Deno.test("a configuration with all keys of the Java service conforms to the schema", async () => {
  const file = new URL("fixtures/java_service_keys.properties", import.meta.url);
  const values = valuesOf(await Deno.readTextFile(file));
  assert(Object.keys(values).length > 100);
  assert.deepEqual(faults(values).filter((fault) => fault.endsWith("additionalProperties")), []);
});

Deno.test("the schema has each key under each of its names, with its description and default", () => {
  const patterns = Object.keys(Object(SCHEMA.patternProperties)).map((pattern) => new RegExp(pattern, "u"));
  const fixed = new Set(Object.keys(Object(SCHEMA.properties)));
  for (const section of SECTIONS) {
    for (const [name, key] of writtenKeys(section)) {
      const written = name.replace("<number>", "12").replace(/<\w+>/g, "MY-ONE") +
        (key.shape === "many" ? ".1" : "");
      const isThere = fixed.has(written) || patterns.slice(0, -1).some((pattern) => pattern.test(written));
      assert(isThere, written);
    }
  }
  assert.deepEqual(Object(SCHEMA.properties)["container.port"], {
    description: "Port to listen on; 0 selects a free port. Expects a port number from 0 to 65535.",
    type: ["integer", "string"],
    minimum: 0,
    maximum: 65535,
    pattern: "\\$\\{|^\\s*(?:[0-9]{1,5})\\s*$",
    default: 7777,
  });
});

Deno.test("the schema accepts the default of each key, as text and as a value", () => {
  for (const section of SECTIONS) {
    for (const [name, key] of writtenKeys(section)) {
      if (key.shape === "many" || key.absent?.value === undefined || name.includes("<")) continue;
      const { value } = key.absent;
      const text = Array.isArray(value) ? value.join(" ") : String(value);
      assert.deepEqual(faults({ [name]: text }), []);
      if (!Array.isArray(value)) assert.deepEqual(faults({ [name]: value }), []);
    }
  }
});

const METHOD = "container.security.rest.authentication";
const RIGHT: readonly Readonly<Record<string, unknown>>[] = [
  valuesOf(MINIMAL),
  { "container.port": 9000 },
  { "container.port": "${AUTH_PORT}" },
  { "container.security.sslEnabled": "No" },
  { "container.security.sslEnabled": true },
  { "container.security.credential.format": "PKCS12" },
  { "container.security.credential.format": "" },
  { "container.security.credential.passwordFile": "${CREDENTIALS_DIRECTORY}/key" },
  { "authservice.server.HPC.12.commandPort": "64435" },
  { "authservice.server.HPC.COMMANDPORT": "64435" },
  { "authservice.server.HPC.truststore.directoryLocations.1": "ca.pem" },
  { [`${METHOD}.MY-OIDC.class`]: "eu.unicore.uas.security.OAuthAuthenticator" },
  { [`${METHOD}.MY-OIDC.clientSecretFile`]: "conf/secret" },
  { "$include.more": "more.properties", "$var.NAME": "x", "log4j.rootLogger": "x" },
];
for (const values of RIGHT) {
  Deno.test(`the schema accepts ${JSON.stringify(values).slice(0, 90)}`, () => {
    assert.deepEqual(faults(values), []);
  });
}

const WRONG: readonly (readonly [key: string, value: unknown, rule: string])[] = [
  ["container.port", "641234", "pattern"],
  ["container.port", "http", "pattern"],
  ["container.port", 70000, "maximum"],
  ["container.port", -1, "minimum"],
  ["container.port", 1.5, "type"],
  ["container.port", true, "type"],
  ["container.security.sslEnabled", "perhaps", "pattern"],
  ["container.security.credential.format", "pem2", "pattern"],
  ["container.security.credential.passwort", "x", "additionalProperties"],
  ["container.prot", "9000", "additionalProperties"],
  ["share.serverz", "HPC", "additionalProperties"],
  ["authservice.server.HPC.commandPort", "no", "pattern"],
  ["authservice.server.HPC.0.commandPort", "64435", "additionalProperties"],
  ["authservice.server.HPC.comandPort", "64435", "additionalProperties"],
  [`${METHOD}.OAUTH.clientSecretFiel`, "x", "additionalProperties"],
  [`${METHOD}.OAUTH.class`, "no class", "pattern"],
];
for (const [key, value, rule] of WRONG) {
  Deno.test(`the schema refuses ${key}=${value} by ${rule}`, () => {
    const found = faults({ [key]: value });
    assert(found.some((fault) => fault.startsWith(key) && fault.endsWith(`: ${rule}`)), found.join());
  });
}
