import assert from "node:assert/strict";
import ANSWERS from "./fixtures/answers.json" with { type: "json" };
import { JSON_FORM, SOAP_FORM } from "../../../src/attributes/xuudb/xuudb_source.ts";
import { LOOPBACK_HTTP, startXuudb } from "./xuudb_simulator.ts";

/** Users of `fixtures/XuudbWithUsers.java`. */
const USERS = {
  "CN=Ann Example, O=Site-A, C=DE": { xlogin: "a1001:a1002", role: "user", projects: "proj1:proj2" },
  "CN=Ben": { xlogin: "ben", role: "user" },
  "CN=R&D <1>, O=\\+x": { xlogin: "rd", role: "banned", projects: "games" },
  "CN=Jürgen": { xlogin: "jue", role: "admin", projects: "" },
};

for (const recorded of ANSWERS) {
  const { dn, status, body } = recorded;
  Deno.test(`the XUUDB simulator (${recorded.form}) answers about ${dn} as a real XUUDB does`, async () => {
    const form = recorded.form === "soap" ? SOAP_FORM : JSON_FORM;
    await using xuudb = startXuudb({ "SITE-A": USERS });
    const answer = await LOOPBACK_HTTP.send(
      form.request(xuudb.address, "SITE-A", dn),
      new AbortController().signal,
    );
    assert.equal(answer.status, status);
    const texts = (record: ReadonlyMap<string, string>) =>
      ["xlogin", "role", "projects"].map((name) => record.get(name) ?? "");
    assert.deepEqual(texts(form.read(answer.body)), texts(form.read(body)));
  });
}
