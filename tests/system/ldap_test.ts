import assert from "node:assert/strict";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { SLAPD } from "../fixtures/slapd.ts";
import { LDAP_USER, ldapSystem } from "./ldap_site.ts";
import { Visitor } from "./visitor.ts";

const ignore = SLAPD === undefined;

Deno.test(
  "a service configured like the LDAP page opens sessions, signs in browsers, and counts wrong passwords (slapd)",
  {
    ignore,
  },
  async () => {
    await using site = await ldapSystem();
    const { system, slapd } = site;
    const session = await system.ask("/rest/auth/HPC", { as: LDAP_USER, body: { serverPath: "" } });
    assert.equal(session.status, 200, session.text);
    const values = system.daemon().sessionRequests.at(-1);
    assert.deepEqual([values?.get("user"), values?.get("group")], ["alice", "hpc"]);

    const browser = new Visitor(system);
    assert.equal((await browser.signIn(LDAP_USER)).status, 303);
    const page = (await browser.get("/")).text;
    assert.match(page, /CN=alice,O=Example/);
    assert.match(page, /user name and password/);

    const refused = await system.ask("/rest/auth", { as: ["alice", "a wrong one"] });
    assert.equal(refused.status, 401);
    assert.match(
      await system.logged(/credentials refused/),
      /authenticator=LDAP.*wrong password \(code 49\)/,
    );

    const command = async (...args: readonly string[]) => {
      const io = recordedIo();
      await runCommand([...args, "--config", system.main], io);
      return io.out + io.err;
    };
    const online = await command("check", "--online");
    assert.match(online, /finds alice as uid=alice,ou=people,dc=demo,dc=org/);
    assert.match(online, /localhost:1/);
    assert.match(await command("whoami-test", "CN=alice,O=Example"), /LDAP[^]*alice[^]*hpc/);

    const password = await Deno.readTextFile(`${system.folder}/conf/ldap-password`);
    await system.replace("conf/ldap-password", "a wrong one\n");
    assert.match(
      await command("check", "--online"),
      /as bindDN with code 49\n +fix: .*the login of this service there is right/,
    );
    await system.replace("conf/ldap-password", password);

    await slapd.stop();
    assert.equal((await system.ask("/rest/auth", { as: ["alice", "another one"] })).status, 503);
  },
);
