/** The stock client transfers files for a user of a real OpenLDAP, set up from scratch as in the manual. */
import assert from "node:assert/strict";
import { SLAPD } from "../fixtures/slapd.ts";
import { LDAP_USER, ldapSystem } from "../system/ldap_site.ts";
import { hasProgram, lacking, run } from "./lacking.ts";
import { findPyuftp } from "./pyuftp.ts";

const PART = "LDAP and pyuftp";

if (SLAPD === undefined) lacking(PART, "install slapd and ldap-utils");
else if (!await hasProgram("python3")) lacking(PART, "install python3");
else {
  const pyuftp = await findPyuftp(PART);
  if (pyuftp !== undefined) {
    Deno.test("pyuftp uploads and downloads files of an LDAP user", async () => {
      await using site = await ldapSystem();
      const { port, folder } = site.system;
      await Deno.mkdir(`${folder}/own`);
      await Deno.writeTextFile(`${folder}/own/up.dat`, "by LDAP");
      const server = `https://localhost:${port}/rest/auth/HPC:`;
      const as = ["-u", LDAP_USER.join(":")];
      await run(pyuftp, ["cp", ...as, `${folder}/own/up.dat`, `${server}${folder}/there.dat`]);
      assert.equal(await Deno.readTextFile(`${folder}/there.dat`), "by LDAP");
      await run(pyuftp, ["cp", ...as, `${server}${folder}/there.dat`, `${folder}/own/down.dat`]);
      assert.equal(await Deno.readTextFile(`${folder}/own/down.dat`), "by LDAP");
    });
  }
}
