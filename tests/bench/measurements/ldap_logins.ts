import { BASE, person, SERVICE, SLAPD, TestSlapd } from "../../fixtures/slapd.ts";
import { createAuthority } from "../../pki/authority.ts";
import { authenticatorProperties } from "../../system/every_method.ts";
import { ALICE, passwordLine } from "../../system/running_service.ts";
import { type BenchSite, startBenchSite } from "../bench_site.ts";
import { type Measurement, median } from "../figure.ts";

/** Rounds of each kind of login; the kinds alternate, so that a disturbance affects both. */
const ROUNDS = 15;
/** Rounds in which hot code is compiled. */
const WARM_UP = 5;
/** Requests of a round; each is of another user, so that no result is cached. */
const REQUESTS = 1_000;
/** Concurrent requests. */
const AT_ONCE = 16;

/** Cost of a login by LDAP for this service, relative to a login by the password file. */
export const ldapLogins: Measurement = {
  name: "ldap-logins",
  summary:
    "GET /rest/auth as a different LDAP user each time, compared with the same users in a password file (MD5); without the processor time of the LDAP server",
  async run() {
    if (SLAPD === undefined) throw new Error("needs slapd and ldap-utils");
    const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
    const users = Array.from(
      { length: (WARM_UP + ROUNDS) * REQUESTS },
      (_, i) => [`user${i}`, `password ${i}`] as const,
    );
    await using slapd = await TestSlapd.start(
      authority.issue({ subject: "CN=localhost", names: ["localhost"] }),
      [ALICE, ...users].map(([user, password]) => person(user, password)),
    );
    const passwords = [ALICE, ...users].map((user) => passwordLine(user, `CN=${user[0]},O=Demo,C=EU`)).join(
      "",
    );
    const order = "container.security.rest.authentication.order";
    await using file = await startBenchSite({ authority, passwords, properties: { [order]: "PASSWORD" } });
    await using ldap = await startBenchSite({
      authority,
      properties: {
        [order]: "LDAP",
        ...authenticatorProperties("LDAP", {
          address: slapd.ldaps,
          bindDN: SERVICE.dn,
          bindPassword: SERVICE.password,
          userBase: `ou=people,${BASE}`,
          dnTemplate: "CN=%uid%,O=Demo,C=EU",
        }),
      },
    });
    using client = Deno.createHttpClient({ caCerts: [authority.certificate] });
    const logins = users.map((user) => `Basic ${btoa(user.join(":"))}`);
    const rounds: { readonly file: number; readonly ldap: number }[] = [];
    for (let i = 0; i < WARM_UP + ROUNDS; i++) {
      const some = logins.slice(i * REQUESTS, (i + 1) * REQUESTS);
      rounds.push({ file: await costOf(file, client, some), ldap: await costOf(ldap, client, some) });
    }
    rounds.splice(0, WARM_UP);
    return [
      {
        what: "processor time of a login, relative to the password file",
        value: median(rounds.map(({ file, ldap }) => ldap / file)),
        unit: "×",
        target: { atMost: 3.5 },
      },
      {
        what: "processor time of a login by LDAP",
        value: median(rounds.map(({ ldap }) => ldap)),
        unit: "µs",
      },
      {
        what: "processor time of a login by the password file",
        value: median(rounds.map(({ file }) => file)),
        unit: "µs",
      },
    ];
  },
};

/** Returns the processor time of this service for a request, in microseconds. */
async function costOf(
  { process, url }: BenchSite,
  client: Deno.HttpClient,
  authorizations: readonly string[],
): Promise<number> {
  const before = process.cpu().total ?? 0;
  const waiting = authorizations.values();
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (const Authorization of waiting) {
      const reply = await fetch(`${url}/rest/auth`, { client, headers: { Authorization } });
      await reply.body?.cancel();
      if (reply.status !== 200) throw new Error(`a login was answered with ${reply.status}`);
    }
  }));
  return ((process.cpu().total ?? 0) - before) * 1000 / authorizations.length;
}
