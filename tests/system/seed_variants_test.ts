/** Both configurations of the specification, started as they are except for addresses and paths. */
import assert from "node:assert/strict";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import type { DaemonOptions } from "../daemon_simulator/daemon.ts";
import { userToken } from "./every_method.ts";
import { createSite, passwordLine, runAt, type Site, type SystemUnderTest } from "./running_service.ts";

const fixture = (path: string) => Deno.readTextFile(new URL(`../${path}`, import.meta.url));

const DEMO = ["demouser", "test123"] as const;
const ANN = ["ann", "sesame"] as const;
const DEMO_DN = "CN=Demo User, O=Example, C=EU";

/** Configuration of the specification with changes. */
interface Variant {
  readonly map: string;
  readonly edit?: (text: string) => string;
}

/** Runs a configuration of the specification. */
async function runVariant(
  file: string,
  servers: Readonly<Record<string, readonly DaemonOptions[]>>,
  variant: Variant,
): Promise<SystemUnderTest> {
  const site = await createSite({
    servers,
    passwords: passwordLine(DEMO, DEMO_DN) + passwordLine(ANN, "CN=Ann Example, OU=Lab 2, O=Site-A, C=DE"),
    files: {
      "conf/ssh-keys.txt": `demouser:${publicLine("user_ed25519")}:${DEMO_DN}\n`,
      "conf/identity.expr": '"UID="+sub',
    },
  });
  for (const folder of ["trusted", "unity"]) {
    await Deno.mkdir(`${site.folder}/conf/${folder}`);
    await Deno.copyFile(`${site.folder}/conf/ca.pem`, `${site.folder}/conf/${folder}/ca.pem`);
  }
  await writeVariant(site, file, variant);
  return await runAt(site);
}

/** Writes the main file and the map file. */
async function writeVariant(site: Site, file: string, { map, edit = (text) => text }: Variant) {
  const text = await fixture(`config/fixtures/${file}`);
  await site.replace("conf/mapfile.json", await fixture(`fixtures/attributes/${map}`));
  const place = (line: string): string => {
    const [, server = "", number = "1", what] =
      /^authservice\.server\.(\w+)\.(?:(\d)\.)?(host|port|commandHost|commandPort)=/.exec(line) ?? [];
    const daemon = site.daemons(server)[Number(number) - 1];
    if (what === undefined || daemon === undefined) return line;
    const value = {
      host: daemon.host,
      port: daemon.listenPort,
      commandHost: daemon.host,
      commandPort: daemon.commandPort,
    };
    return line.replace(/=.*/, `=${Reflect.get(value, what)}`);
  };
  const configuration = edit(text).split("\n").map(place).join("\n")
    .replace(/^container\.host=.*/m, "container.host=localhost")
    .replace(/^container\.port=.*/m, "container.port=0")
    .replace("conf/host.p12", "conf/auth-cert.pem")
    .replace(
      /^container\.security\.credential\.password=.*/m,
      "container.security.credential.keyPath=conf/auth-key.pem",
    )
    .replace(/(?<==|@)conf\//g, `${site.folder}/conf/`);
  await site.replace("conf/container.properties", configuration);
}

const answers = async (system: SystemUnderTest, question: Parameters<SystemUnderTest["ask"]>[1]) => {
  const reply = await system.ask("/rest/auth", question);
  assert.equal(reply.status, 200, reply.text);
  return JSON.parse(reply.text);
};
const key = (user: string, name = "user_ed25519") => ({
  headers: { Authorization: `Bearer ${userToken(user, name)}` },
});
const many = { maxSessions: 100 };

Deno.test("variant A gives the attributes of the specification and, with other servers and maps, the per-server attributes", async (test) => {
  const servers = { HPC: [many], CLUSTER: [many, many], ALPHA: [many], BETA: [many, many] };
  await using system = await runVariant("seed_a.properties", servers, { map: "variant_a.json" });
  const { client, HPC, CLUSTER } = await answers(system, { as: DEMO });
  assert.deepEqual([client.dn, client.role.selected, HPC.uid, HPC.gid], [DEMO_DN, "user", "demo", "users"]);
  assert.equal(HPC.href, "https://gw.site-a.example:8080/AUTH/rest/auth/HPC");
  assert.equal(HPC.description, "Single server");
  assert.match(HPC.status, /^OK \[connected to 127\.0\.0\.1:\d+\]$/);
  assert.match(CLUSTER.status, /^OK \[connected to .*, .*; 2 of 2 available\]$/);
  assert.deepEqual(HPC.reservations, []);
  assert.deepEqual((await answers(system, key("demouser"))).client.xlogin.UID, "demo");
  const { client: ann } = await answers(system, { as: ANN });
  assert.deepEqual([ann.xlogin.availableUIDs, ann.xlogin.availableGroups], [["a1001", "a1002"], [
    "proj1",
    "proj2",
    "fast",
  ]]);
  const instances = [];
  for (let i = 0; i < 4; i++) {
    const reply = await system.ask("/rest/auth/CLUSTER", { as: DEMO, body: { serverPath: "" } });
    instances.push(reply.json().serverPort);
  }
  const ports = system.daemons("CLUSTER").map(({ listenPort }) => listenPort);
  assert.deepEqual([...instances].sort(), [...ports, ...ports].sort(), "round-robin");
  for (const map of ["variant_a.json", "variant_b.xml"]) {
    await test.step(`per-server attributes of ${map} apply to the server they name`, () =>
      onItsServer(system, map));
  }
});

async function onItsServer(system: SystemUnderTest, map: string): Promise<void> {
  const edit = (text: string) => text.replace(/\bHPC\b/g, "ALPHA").replace(/\bCLUSTER\b/g, "BETA");
  const before = new Map(system.daemons("BETA").map((daemon) => [daemon, daemon.requests.length]));
  await writeVariant(system, "seed_a.properties", { map, edit });
  await system.service.reload();
  const { ALPHA, BETA } = await answers(system, { as: DEMO });
  assert.deepEqual([ALPHA.uid, ALPHA.gid, ALPHA.rateLimit, ALPHA.allowed], [
    "demo",
    "users",
    undefined,
    undefined,
  ]);
  assert.deepEqual(
    [BETA.uid, BETA.gid, BETA.rateLimit, BETA.allowed, BETA.forbidden],
    ["demo7", "beta", 10 * 1024 * 1024, "/home/demo/*", "/home/demo/.ssh/*"],
  );
  const { ALPHA: ann } = await answers(system, { as: ANN });
  assert.deepEqual([ann.uid, ann.rateLimit, ann.allowed], [
    "alpha7",
    200 * 1024 * 1024,
    "/data/*:/scratch/*",
  ]);
  await system.ask("/rest/auth/BETA", { as: DEMO, body: { serverPath: "" } });
  const told = system.daemons("BETA").flatMap((daemon) =>
    daemon.requests.slice(before.get(daemon)).flatMap(({ values }) =>
      values?.get("user") === "demo7" ? [Object.fromEntries(values)] : []
    )
  );
  assert.deepEqual(
    told.map(({ group, rateLimit, includes, excludes }) => [group, rateLimit, includes, excludes]),
    [["beta", "10485760", "/home/demo/*", "/home/demo/.ssh/*"]],
  );
}

Deno.test("variant B gives users with SSH keys the account of their name and the role user, from its PAM source", async () => {
  const dora = {
    uid: 1001,
    home: "/home/dora",
    groups: ["users"],
    keyFiles: { ".ssh/authorized_keys": `${publicLine("user_ed25519")}\n` },
  };
  const servers = { HPC: [{ tls: undefined, users: { dora }, ...many }] };
  await using system = await runVariant("seed_b.properties", servers, { map: "variant_b.xml" });
  const { client, HPC } = await answers(system, key("dora"));
  assert.deepEqual(
    [client.dn, client.xlogin.UID, client.role],
    ["CN=dora, OU=ssh-local-users", "dora", { selected: "user", availableRoles: ["user"] }],
  );
  assert.equal(HPC.href, "https://gw.site-a.example:8080/AUTH/rest/auth/HPC");
  assert.deepEqual(HPC.dataSharing, { enabled: false });
  const reply = await system.ask("/rest/auth/HPC", { ...key("dora"), body: { serverPath: "" } });
  assert.equal(reply.status, 200);
  assert.equal(
    (await answers(system, { as: DEMO })).client.role.selected,
    "anonymous",
    "no source knows him",
  );
});
