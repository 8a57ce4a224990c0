/** Service configured by the manual's page about LDAP, in front of a real OpenLDAP. */
import { recipeOf } from "../docs/recipe.ts";
import { BASE, person, SERVICE, TestSlapd } from "../fixtures/slapd.ts";
import { createAuthority } from "../pki/authority.ts";
import { runService, type SystemUnderTest } from "./running_service.ts";

export const LDAP_USER = ["alice", "wonder-4711"] as const;

/** Service, and the LDAP server that it queries. */
export interface LdapSystem extends AsyncDisposable {
  readonly system: SystemUnderTest;
  readonly slapd: TestSlapd;
}

/** Starts a service by the recipe for OpenLDAP, whose first server is down. */
export async function ldapSystem(): Promise<LdapSystem> {
  const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
  const slapd = await TestSlapd.start(authority.issue({ subject: "CN=localhost", names: ["localhost"] }), [
    person(...LDAP_USER),
    [`cn=hpc-users,ou=groups,${BASE}`, {
      objectClass: "posixGroup",
      gidNumber: "5001",
      cn: "hpc-users",
      memberUid: "alice",
    }],
  ]);
  const { settings: [settings = {}] } = await recipeOf("OpenLDAP", {
    "ldap1.example.org": "localhost:1",
    "ldap2.example.org": `localhost:${slapd.ports.ldaps}`,
    "dc=example,dc=org": BASE,
    "conf/ldap-password": "{folder}/conf/ldap-password",
  }, "ldap.md");
  try {
    const system = await runService({
      authority,
      files: { "conf/ldap-password": `${SERVICE.password}\n` },
      properties: settings,
    });
    return {
      system,
      slapd,
      async [Symbol.asyncDispose]() {
        await system[Symbol.asyncDispose]();
        await slapd[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await slapd[Symbol.asyncDispose]();
    throw error;
  }
}
