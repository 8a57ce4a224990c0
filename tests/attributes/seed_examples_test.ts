import assert from "node:assert/strict";
import { AttributeChain, withAutomaticSource } from "../../src/attributes/attribute_chain.ts";
import { fileAttributeSource } from "../../src/attributes/file/file_attribute_source.ts";
import { attributesOnServer } from "../../src/attributes/server_attributes.ts";
import { userAttributes } from "../../src/attributes/user_attributes.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { identity } from "./conformance.ts";
import { assertAlike } from "../fixtures/assert_alike.ts";

/** Returns a user's attributes on a server by the file of a variant (specification 2.3). */
async function onServer(file: string, dn: string, server: string) {
  const path = new URL(`../fixtures/attributes/${file}`, import.meta.url).pathname;
  const policy = "MERGE_LAST_OVERRIDES";
  const source = await fileAttributeSource({ name: "FILE", file: path, matching: "strict", log: SILENT });
  const links = withAutomaticSource([{ source, optional: false }], policy);
  const chain = new AttributeChain({ name: "chain", links, policy, log: SILENT });
  const signal = new AbortController().signal;
  const user = await userAttributes(chain, identity(dn), { preferences: {}, signal });
  chain.close();
  return { role: user.role, ...attributesOnServer(user, server, { log: SILENT }) };
}

for (const file of ["variant_a.json", "variant_b.xml"]) {
  Deno.test(`the example map ${file} gives the attributes that the specification describes`, async () => {
    assertAlike(await onServer(file, "cn=demo user,o=example,c=eu", "ALPHA"), {
      role: "user",
      uid: "demo",
      gid: "users",
      groups: "users",
      availableGroups: ["users"],
      rateLimit: 0,
    });
    assertAlike(await onServer(file, "CN=Demo User, O=Example, C=EU", "BETA"), {
      role: "user",
      uid: "demo7",
      gid: "beta",
      groups: "beta",
      availableGroups: ["users", "beta"],
      rateLimit: 10485760,
      includes: "/home/demo/*",
      excludes: "/home/demo/.ssh/*",
    });
    assertAlike(await onServer(file, "CN=Ann Example,OU=Lab 2,O=Site-A,C=DE", "ALPHA"), {
      role: "user",
      uid: "alpha7",
      gid: "proj1",
      groups: "proj1",
      availableGroups: ["proj1", "proj2", "fast"],
      rateLimit: 209715200,
      includes: "/data/*:/scratch/*",
    });
    await assert.rejects(onServer(file, "CN=Bob, O=Site-A, C=DE", "ALPHA"), { code: "ERR_NO_ACCOUNT" });
  });
}
