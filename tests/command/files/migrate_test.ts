import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { cp } from "node:fs/promises";
import { convertProperties, withGateway } from "../../../src/command/files/migration/converted_text.ts";
import { createAuthority } from "../../pki/authority.ts";
import { POSTGRES, TestPostgres } from "../../fixtures/postgres.ts";
import { CommandProcess } from "../../system/command_process.ts";
import { runFromSource } from "../../system/service_process.ts";
import { mountSmallDisk } from "../../faults/small_disk.ts";

const authserver = new CommandProcess();
Deno.test.afterAll(() => authserver[Symbol.asyncDispose]());

const FIXTURES = new URL("../../fixtures/java_installation/", import.meta.url).pathname;

/** Creates a folder with a Java installation in `java`, plus `files`, and an empty folder for commands. */
async function site(variant: string, files: Readonly<Record<string, string | Uint8Array>> = {}) {
  const folder = await Deno.makeTempDir({ prefix: "authserver-migrate-" });
  await Deno.mkdir(`${folder}/new`);
  await cp(`${FIXTURES}${variant}`, `${folder}/java`, { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    await Deno.mkdir(`${folder}/java/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    if (typeof content === "string") await Deno.writeTextFile(`${folder}/java/${path}`, content);
    else await Deno.writeFile(`${folder}/java/${path}`, content);
  }
  const before = await listing(`${folder}/java`);
  return {
    folder,
    unchanged: async () => assert.deepEqual(await listing(`${folder}/java`), before),
    async run(...args: readonly string[]) {
      const { code, out, err } = await authserver.run(args, `${folder}/new`);
      return { code, printed: out + err };
    },
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

/** Returns the files below a folder: path -> mode, time of the last change, and content. */
async function listing(root: string, below = ""): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { name, isDirectory } of Deno.readDir(`${root}/${below}`)) {
    const path = `${below}${name}`;
    if (isDirectory) Object.assign(found, await listing(root, `${path}/`));
    else {
      const { mode, mtime } = await Deno.stat(`${root}/${path}`);
      found[path] = `${mode} ${mtime?.getTime()} ${(await Deno.readFile(`${root}/${path}`)).toBase64()}`;
    }
  }
  return found;
}

/** Returns the files below a folder: path -> content. */
async function contents(root: string): Promise<Record<string, string>> {
  const all = Object.entries(await listing(root));
  return Object.fromEntries(all.map(([path, facts]) => [path, facts.split(" ")[2] ?? ""]));
}

for (const variant of ["variant_a", "variant_b"]) {
  Deno.test(`migrate copies a Java installation, ${variant}, unchanged, and the copy is usable`, async () => {
    await using at = await site(variant);
    const { code, printed } = await at.run("migrate", "../java");
    assert.equal(code, 0, printed);
    assert.match(printed, /^\d+ files copied from \S+\/java\/conf to conf$/m);
    assert.match(
      printed,
      /pdpConfig: ignored: the service does not evaluate XACML policies; its built-in rules equal/,
    );
    assert.match(printed, /valid: 0 errors/);
    assert.deepEqual(await contents(`${at.folder}/new/conf`), await contents(`${at.folder}/java/conf`));
    await at.unchanged();

    const again = await at.run("migrate", "../java");
    assert.equal(again.code, 0, again.printed);
    assert.match(again.printed, /^not copied: conf: is there already and stays as it is$/m);
    assert.deepEqual(await contents(`${at.folder}/new/conf`), await contents(`${at.folder}/java/conf`));

    const conf = `${at.folder}/new/conf`;
    const refused = async () => {
      const { code, printed } = await at.run("migrate", "../java");
      assert.equal(code, 1);
      assert.match(printed, /conf is there already, expected a folder without one; nothing was changed/);
    };
    await Deno.remove(`${conf}/container.properties`);
    await refused();
    await Deno.remove(conf, { recursive: true });
    await Deno.writeTextFile(conf, "a file");
    await refused();
  });
}

Deno.test("migrate lists the remaining manual work, with commands", async () => {
  const old = createAuthority({ subject: "CN=Old daemon,O=Site", version: 1 });
  await using at = await site("variant_b", {
    "conf/certs/auth.jks": Uint8Array.of(0xfe, 0xed, 0xfe, 0xed, 0, 0, 0, 2),
    "conf/certs/trusted/old.pem": old.certificate,
    "conf/certs/old.der": new X509Certificate(old.certificate).raw,
    "conf/certs/old.p12": await pkcs12(old, "the!auth"),
    "conf/xacml2Policies/99own.xml": "<Policy/>",
    "data/SHARES_TEST.mv.db": "H:2",
  });
  const main = `${at.folder}/java/conf/container.properties`;
  const text = await Deno.readTextFile(main);
  await Deno.writeTextFile(
    main,
    text.replace("conf/certs/auth.p12", "conf/certs/auth.jks").replace(
      /authentication\.order=.*/,
      "$& OAUTH",
    ) +
      "container.security.rest.authentication.OAUTH.identityAssign=foreach (x : y) { print(x) }\n" +
      "container.security.rest.authentication.OAUTH.address=https://idp.example/userinfo\n",
  );
  const { code, printed } = await at.run("migrate", "../java/");
  assert.equal(code, 1, "it cannot start yet");
  const says = (...lines: readonly string[]) =>
    assert(printed.includes(lines.join("\n")), `${lines}\n${printed}`);
  const line = text.split("\n").findIndex((each) => each.includes("credential.path")) + 1;
  const conf = `${at.folder}/new/conf`;
  says(
    `  fix: keytool -importkeystore -srckeystore ${conf}/certs/auth.jks -destkeystore ${conf}/certs/auth.p12 ` +
      `-deststoretype pkcs12 # then name the new file at conf/container.properties:${line}`,
  );
  says("pdpConfig: ignored: the service does not evaluate XACML policies");
  assert.match(
    printed,
    /^error: conf\/container\.properties:\d+: \S+\.OAUTH\.identityAssign.*expected ;, found \(/m,
  );
  says(
    "Shares, SHARES_TEST in H2:",
    "  not imported yet; these commands export and import them:",
    `  java -cp "${at.folder}/java/lib/*" org.h2.tools.Shell -url "jdbc:h2:file:${at.folder}/java/data/SHARES_TEST;IFEXISTS=TRUE" ` +
      `-user sa -sql "CALL CSVWRITE('${at.folder}/new/SHARES_TEST.csv', 'SELECT * FROM SHARES_TEST', 'charset=UTF-8')"`,
    `  authserver migrate ${at.folder}/java`,
  );
  for (const file of ["old.der", "old.p12", "trusted/old.pem"]) {
    says(`  conf/certs/${file}: CN=Old daemon,O=Site`);
  }
  says("The service would not start");
});

/** Creates a PKCS#12 store of a certificate and its key, with OpenSSL. */
async function pkcs12({ certificate, key }: { certificate: string; key: string }, password: string) {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/both.pem`, certificate + key);
    const { success, stderr } = await new Deno.Command("openssl", {
      args: ["pkcs12", "-export", "-in", "both.pem", "-out", "store.p12", "-passout", `pass:${password}`],
      cwd: folder,
    }).output();
    assert(success, new TextDecoder().decode(stderr));
    return await Deno.readFile(`${folder}/store.p12`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Creates an installation with two servers with sharing, and these lines about the share database. */
async function sharingSite(persistence: string, files: Readonly<Record<string, string>> = {}) {
  const at = await site("variant_a", files);
  const main = `${at.folder}/java/conf/container.properties`;
  const text = (await Deno.readTextFile(main)).replaceAll("CLUSTER", "TEST").replaceAll("ARCHIVE", "GRP")
    .replace(/^share\.servers=.*$/m, "share.servers=TEST GRP").replace(/^persistence\.\w+=.*\n/gm, "");
  await Deno.writeTextFile(main, text + persistence);
  return at;
}

/** Returns the ids of shares in the new installation, which must be the same under each server. */
async function sharedLinks(at: Awaited<ReturnType<typeof site>>) {
  const { printed } = await at.run("share", "list", "--json");
  const shares: { server: string; id: string }[] = JSON.parse(printed);
  const ids = (server: string) =>
    shares.filter((share) => share.server === server).map(({ id }) => id).sort();
  assert.deepEqual(ids("TEST"), ids("GRP"));
  return ids("TEST");
}

/** Runs the commands that `migrate` printed in a shell, where `java` and `mysqldump` copy the fixture. */
async function runPrinted(at: Awaited<ReturnType<typeof site>>, printed: string, fixture: string) {
  const bin = `${at.folder}/path`;
  await Deno.mkdir(bin, { recursive: true });
  const program = [Deno.execPath(), ...runFromSource()].map((word) => `'${word}'`).join(" ");
  const dump = new URL(`../../fixtures/java_shares/${fixture}`, import.meta.url).pathname;
  for (
    const [name, body] of Object.entries({
      authserver: `exec ${program} "$@"`,
      java: `to=$(printf '%s' "$*" | sed -n "s/.*CSVWRITE('\\([^']*\\)'.*/\\1/p"); exec cp ${dump} "$to"`,
      mysqldump:
        `to=$(printf '%s' "$*" | sed -n 's/.*--result-file=\\([^ ]*\\) .*/\\1/p'); exec cp ${dump} "$to"`,
    })
  ) await Deno.writeTextFile(`${bin}/${name}`, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  const commands = printed.split("\n").map((line) => line.trim())
    .filter((line) =>
      /^(?:java|mysqldump|authserver) /.test(line) && !line.startsWith("authserver check says")
    );
  let said = "";
  for (const command of commands) {
    const { code, stdout, stderr } = await new Deno.Command("sh", {
      args: ["-c", command],
      cwd: `${at.folder}/new`,
      env: { PATH: `${bin}:${Deno.env.get("PATH")}`, NO_COLOR: "1" },
    }).output();
    said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assert.equal(code, 0, `${command}\n${said}`);
  }
  return { commands, said };
}

for (
  const [what, persistence, fixture, commands, counts] of [
    [
      "H2",
      "persistence.directory=data\n",
      "h2_2.4.csv",
      2,
      /^ {2}4 shares imported, 1 expired, 2 not imported:$/m,
    ],
    ["H2 of 2021, by its absolute path", "", "h2_1.4.csv", 2, /^ {2}5 shares imported, 2 not imported:$/m],
    [
      "MySQL",
      "persistence.class=eu.unicore.persist.impl.MySQLPersist\npersistence.database=unicore\npersistence.user=u\n",
      "mariadb_10.11.sql",
      2,
      /^ {2}4 shares imported, 1 expired, 2 not imported:$/m,
    ],
  ] as const
) {
  Deno.test(`migrate prints commands in order that move the shares of ${what} to an empty machine`, async () => {
    await using at = await sharingSite(persistence, { "data/SHARES_TEST.mv.db": "H:2" });
    if (persistence === "") {
      const main = `${at.folder}/java/conf/container.properties`;
      await Deno.writeTextFile(main, `persistence.directory=${at.folder}/java/data\n`, { append: true });
    }
    const first = await at.run("migrate", "../java");
    assert.equal(first.code, 0, first.printed);
    const ran = await runPrinted(at, first.printed, fixture);
    assert.equal(ran.commands.length, commands, ran.commands.join("\n"));
    assert.match(ran.said, counts);
    assert.match(
      ran.said,
      /^ {4}SHARES_TEST\.\w+:\d+: uid: expected the name of an unprivileged account or group$/m,
    );
    const ids = await sharedLinks(at);
    assert.equal(ids.length, fixture.startsWith("h2_1") ? 5 : 4);

    const again = await at.run("migrate", "../java");
    assert.match(again.printed, /^ {2}0 shares imported, \d there already, /m);
    assert.deepEqual(await sharedLinks(at), ids);
  });
}

/** Returns the lines of `migrate` about shares, without the folder. */
const sharesOf = (printed: string, { folder }: { readonly folder: string }) =>
  /^Shares, [^]*?(?=^authserver check says)/m.exec(printed.replaceAll(folder, ""))?.[0].trim().split("\n");

Deno.test("migrate also reads keys of shares and gateway in included files, with variables", async () => {
  const data = { "data/SHARES_TEST.mv.db": "H:2" };
  await using plain = await sharingSite("persistence.directory=data\n", data);
  await using at = await sharingSite("$var.D=elsewhere\n$include.1=conf/shares.conf\n$include.2=etc/gate\n", {
    ...data,
    "conf/shares.conf": "$var.D=data\nshare.servers=TEST GRP\npersistence.directory=${D}\n",
    "etc/gate": "container.security.gateway.enable=false\npersistence.class=x.MySQLPersist\n" +
      "persistence.class.SHARES_TEST=H2Persist\n",
  });
  const main = `${at.folder}/java/conf/container.properties`;
  const text = (await Deno.readTextFile(main)).replace(
    /^(?:share\.servers|container\.security\.gateway).*\n/gm,
    "",
  );
  await Deno.writeTextFile(main, text);
  const { code, printed } = await at.run("migrate", "../java");
  assert.equal(code, 0, printed);
  assert.deepEqual(sharesOf(printed, at), sharesOf((await plain.run("migrate", "../java")).printed, plain));
  assert.match(printed, /^copied: etc\/gate$/m);
  assert.match(
    printed,
    /^conf\/shares\.conf:\n {2}3: - \S+=\$\{D\}\n {2}3: \+ persistence\.directory=data$/m,
  );
  assert.match(printed, /^etc\/gate:\n {2}2: - \S+\n {2}2: \+ #persistence\.class=x\.MySQLPersist$/m);
  assert.equal(await Deno.readTextFile(`${at.folder}/new/conf/container.properties`), text);
});

Deno.test("migrate lists the paths by which the copy still uses the old folder", async () => {
  await using at = await site("variant_a", { "conf/sub": "share.servers=CLUSTER\n", "certs/x.pem": "x" });
  const { folder } = at;
  const main = `${folder}/java/conf/container.properties`;
  const text = (await Deno.readTextFile(main)).replace("=conf/users.txt", `=${folder}/java/conf/users.txt`)
    .replace(/^share\.servers.*$/m, `$var.OLD=${folder}/java\n$include.x=\${OLD}/conf/sub`) +
    "container.security.gateway.certificate=${OLD}/certs/x.pem\n";
  await Deno.writeTextFile(main, text);
  const { printed } = await at.run("migrate", "../java");
  assert.deepEqual([...printed.matchAll(/^still in the old folder: (.*)$/gm)].map(([, path]) => path), [
    `${folder}/java/conf/sub`,
    `${folder}/java/certs/x.pem`,
  ]);
});

Deno.test("migrate names a folder that it may not read", async () => {
  await using at = await site("variant_a", { "conf/closed/x.pem": "x" });
  const closed = `${at.folder}/java/conf/closed`;
  await Deno.chmod(closed, 0);
  // Root may enter any folder, unless it gives up its capabilities.
  const bare = Deno.uid() === 0 ? "setpriv --bounding-set=-all --inh-caps=-all" : "";
  const { code, stderr } = await new Deno.Command("sh", {
    args: ["-c", `exec ${bare} "$@"`, "sh", Deno.execPath(), ...runFromSource(), "migrate", "../java"],
    cwd: `${at.folder}/new`,
    env: { NO_COLOR: "1" },
  }).output();
  await Deno.chmod(closed, 0o700);
  const said = new TextDecoder().decode(stderr);
  assert.match(said, /^authserver migrate: .*ermission denied.*\/java\/conf\/closed'\n$/);
  assert.equal(code, 1);
});

Deno.test("migrate reports where it found no shares, and imports those from dumps elsewhere", async () => {
  await using at = await sharingSite(
    "persistence.directory=gone\npersistence.user=u\npersistence.password=p\n",
  );
  const { code, printed } = await at.run("migrate", "../java");
  assert.equal(code, 0, printed);
  const [title, first, command = "", last] = sharesOf(printed, at) ?? [];
  assert.deepEqual([title, first, last], [
    "Shares, SHARES_TEST in H2:",
    "  there is no /java/gone/SHARES_TEST.mv.db; if there are shares, correct the path in these commands, " +
    "which export and import them:",
    "  authserver migrate /java",
  ]);
  // With every version of its storage (1.0 to 1.3), the Java service opens H2 as sa, without a password.
  assert.match(command, /^ {2}java .*;IFEXISTS=TRUE" -user sa -sql /);
  const fixture = new URL("../../fixtures/java_shares/h2_2.4.csv", import.meta.url);
  await Deno.copyFile(fixture, `${at.folder}/new/SHARES_TEST.csv`);
  assert.match((await at.run("migrate", "../java")).printed, /^ {2}4 shares imported/m);
});

Deno.test("migrate refuses a dump older than the database, and prints quoted commands that write a new one", async () => {
  await using at = await sharingSite("persistence.directory=data\n", { "data/SHARES_TEST.mv.db": "H:2" });
  await Deno.rename(`${at.folder}/java`, `${at.folder}/ja va`);
  const run = () => at.run("migrate", "../ja va", "--directory", "ne w");
  const fixture = new URL("../../fixtures/java_shares/h2_2.4.csv", import.meta.url);
  await Deno.mkdir(`${at.folder}/new/ne w`);
  const dump = `${at.folder}/new/ne w/SHARES_TEST.csv`;
  await Deno.copyFile(fixture, dump);
  const now = Date.now() / 1000;
  await Deno.utime(dump, now, now - 120);
  const { printed } = await run();
  const [, first, command, last] = sharesOf(printed, at) ?? [];
  assert.equal(
    first,
    "  not imported yet, as SHARES_TEST.csv is older than /ja va/data/SHARES_TEST.mv.db; these commands " +
      "export and import them:",
  );
  assert.match(command ?? "", /^ {2}java -cp "/);
  assert.equal(last, '  authserver migrate "/ja va" --directory "/new/ne w"');
  await Deno.utime(dump, now, now - 1);
  assert.match((await run()).printed, /^ {2}4 shares imported/m, "H2 writes when it closes its database");
});

Deno.test("migrate reports if it cannot determine whether there are shares", async () => {
  await using at = await sharingSite("$include.1=etc/shares\n");
  const main = `${at.folder}/java/conf/container.properties`;
  await Deno.writeTextFile(main, (await Deno.readTextFile(main)).replace(/^share\.servers.*\n/m, ""));
  const { printed } = await at.run("migrate", "../java");
  assert.match(
    sharesOf(printed, at)?.join("\n") ?? "",
    /^Shares, an unknown table:\n.*properties:\d+: \$include\.1 = etc\/shares: cannot read \/java\/etc\/shares: .*\n {2}correct this, then run:\n/,
  );
});

Deno.test("migrate imports no shares of a running service", async () => {
  await using at = await sharingSite("persistence.directory=data\n", {
    "data/SHARES_TEST.mv.db": "H:2",
    "logs/unicore-authserver.pid": "4711",
  });
  await Deno.writeTextFile(`${at.folder}/java/conf/startup.properties`, "PID=logs/unicore-authserver.pid\n");
  const { printed } = await at.run("migrate", "../java", "--json");
  const { shares } = JSON.parse(printed);
  assert.equal(shares.imported, undefined);
  assert.match(shares.left[0], /the old service seems to run\. Stop it, which removes \S+\.pid, then run:$/);
});

Deno.test("migrate reports why it cannot import shares, and continues once that is fixed", async () => {
  await using at = await sharingSite("persistence.directory=data\n", { "data/SHARES_TEST.mv.db": "H:2" });
  const main = `${at.folder}/java/conf/container.properties`;
  await Deno.writeTextFile(main, "share.maxPerUser=many\n", { append: true });
  const fixture = new URL("../../fixtures/java_shares/h2_2.4.sql", import.meta.url);
  await Deno.copyFile(fixture, `${at.folder}/new/SHARES_TEST.sql`);
  const { code, printed } = await at.run("migrate", "../java");
  assert.equal(code, 1);
  assert.match(
    printed,
    /SHARES_TEST in H2:\n {2}not imported:\n[^]*maxPerUser[^]*correct this, then run:\n {2}authserver migrate /,
  );
  const copy = `${at.folder}/new/conf/container.properties`;
  await Deno.writeTextFile(copy, (await Deno.readTextFile(copy)).replace("maxPerUser=many", "maxPerUser=7"));
  assert.match((await at.run("migrate", "../java")).printed, /^ {2}4 shares imported/m);
});

if (POSTGRES !== undefined) {
  const server = await TestPostgres.start();

  Deno.test("migrate imports the shares of a PostgreSQL database, and creates its own tables beside theirs", async () => {
    await server.sql("postgres", "CREATE ROLE unicore LOGIN");
    await server.sql("postgres", "CREATE DATABASE old OWNER unicore");
    const fixture = new URL("../../fixtures/java_shares/postgresql_15.sql", import.meta.url).pathname;
    const restored = await new Deno.Command(`${POSTGRES}/psql`, {
      args: [
        "-h",
        "127.0.0.1",
        "-p",
        String(server.port),
        "-U",
        server.login("old").user,
        "-f",
        fixture,
        "old",
      ],
    }).output();
    assert(restored.success, new TextDecoder().decode(restored.stderr));
    await using at = await sharingSite(
      "persistence.class=eu.unicore.persist.impl.PGSQLPersist\npersistence.host=127.0.0.1\n" +
        `persistence.port=${server.port}\npersistence.pgsql.useSSL=false\n` +
        "persistence.database=old\npersistence.user=unicore\n",
    );
    const { code, printed } = await at.run("migrate", "../java");
    assert.equal(code, 0, printed);
    assert.match(printed, /SHARES_TEST in PostgreSQL:\n {2}4 shares imported, 1 expired, 2 not imported:\n/);
    assert.match(
      printed,
      /^ {4}SHARES_TEST: \w+\.uid: expected the name of an unprivileged account or group$/m,
    );
    assert.equal((await sharedLinks(at)).length, 4);
    const again = await at.run("migrate", "../java");
    assert.match(again.printed, /^ {2}0 shares imported, 4 there already, 1 expired, 2 not imported:$/m);
  });

  Deno.test.afterAll(() => server[Symbol.asyncDispose]());
}

Deno.test("migrate writes the Java service's defaults for a gateway", async () => {
  await using at = await site("variant_a");
  const main = `${at.folder}/java/conf/container.properties`;
  const text = (await Deno.readTextFile(main)).replace(/^container\.security\.gateway\..*\n/gm, "");
  await Deno.writeTextFile(main, text);
  const { code, printed } = await at.run("migrate", "../java");
  assert.equal(code, 0, printed);
  const line = text.split("\n").length;
  assert.match(
    printed,
    new RegExp(`^  ${line}: - \\(left out, which is true to the Java service; say false`, "m"),
  );
  assert.match(printed, new RegExp(`^  ${line}: \\+ container.security.gateway.enable=true$`, "m"));
  assert.match(printed, /gateway\.enable = true: expected container\.security\.gateway\.trustedPeers too/);
  const copy = await Deno.readTextFile(`${at.folder}/new/conf/container.properties`);
  assert.equal(copy, `${text}container.security.gateway.enable=true\n`);
});

Deno.test("migrate lists no work for shares in memory", async () => {
  await using at = await sharingSite("persistence.directory=data\npersistence.class=x.InMemory\n");
  assert.equal(sharesOf((await at.run("migrate", "../java")).printed, at), undefined);
});

Deno.test("migrate lists no work for an installation without shares", async () => {
  await using at = await site("variant_a");
  const main = `${at.folder}/java/conf/container.properties`;
  const chosen = "persistence.class=eu.unicore.persist.impl.PGSQLPersist\npersistence.host=localhost\n" +
    "persistence.database=unicore\npersistence.user=unicore\n";
  const text = (await Deno.readTextFile(main)).replace(/^(?:persistence\.class|share\.servers)=.*\n/gm, "");
  await Deno.writeTextFile(main, text + chosen);
  const { code, printed } = await at.run("migrate", "../java");
  assert.equal(code, 0, printed);
  assert.doesNotMatch(printed, /Shares,/);
});

Deno.test("migrate refuses an archive, and writes nothing", async () => {
  await using at = await site("variant_a");
  await Deno.writeTextFile(`${at.folder}/java.tar.gz`, "packed");
  const { code, printed } = await at.run("migrate", "../java.tar.gz");
  assert.equal(code, 1, printed);
  assert.match(printed, /Expected container\.properties in \S+java\.tar\.gz .*unpack an archive first/);
  assert.deepEqual(await Array.fromAsync(Deno.readDir(`${at.folder}/new`)), []);
});

Deno.test("migrate accepts the folder of a package, and writes paths in the new folder", async () => {
  await using at = await site("variant_a");
  const conf = `${at.folder}/java/conf`;
  for (const name of ["container.properties", "startup.properties"]) {
    const text = await Deno.readTextFile(`${conf}/${name}`);
    await Deno.writeTextFile(
      `${conf}/${name}`,
      text.replaceAll("=conf/", `=${conf}/`).replace("=data", "=/var/lib/unicore/authserver/data")
        .replace("PID=logs/", "PID=/var/run/unicore/"),
    );
  }
  const { code, printed } = await at.run("migrate", "../java/conf", "--directory", "fresh");
  assert.equal(code, 0, printed);
  assert.match(
    printed,
    /: - persistence\.directory=\/var\/lib\S+\n {2}\d+: \+ persistence\.directory=data$/m,
  );
  assert.match(printed, /: - PID=\/var\/run\/\S+\n {2}\d+: \+ PID=logs\/authserver\.pid$/m);
  const copied = await Deno.readTextFile(`${at.folder}/new/fresh/conf/container.properties`);
  assert.equal(copied, await Deno.readTextFile(`${FIXTURES}variant_a/conf/container.properties`));
});

Deno.test("migrate copies files outside conf/ that the configuration names, as the archive's template does", async () => {
  const long = "x".repeat(300);
  await using at = await site("variant_a");
  const { folder } = at;
  await Deno.rename(`${folder}/java/conf/certs`, `${folder}/java/certs`);
  await Deno.rename(`${folder}/java/certs/trusted`, `${folder}/java/certs/trusted-certs`);
  await Deno.writeTextFile(`${folder}/java/LICENSE`, "not named");
  await Deno.writeTextFile(`${folder}/java/certs/README`, "not named");
  const main = `${folder}/java/conf/container.properties`;
  const text = (await Deno.readTextFile(main)).replace("conf/certs/trusted/", "certs/trusted-certs/")
    .replace("conf/certs/auth.p12", "certs/auth.p12");
  await Deno.writeTextFile(main, `${text}authservice.server.ARCHIVE.description=${long}\n`);
  await Deno.mkdir(`${folder}/java/data`);

  const { code, printed } = await at.run("migrate", "../java");
  assert.equal(code, 0, printed);
  assert.match(printed, /^copied: certs\/auth\.p12\ncopied: certs\/trusted-certs\/example-ca\.pem$/m);
  assert.deepEqual(
    Object.keys(await contents(`${folder}/new`)).filter((path) => !/^(?:conf|bin)\//.test(path)).sort(),
    ["certs/auth.p12", "certs/trusted-certs/example-ca.pem"],
  );
  assert.equal(
    (await Deno.stat(`${folder}/new/certs/auth.p12`)).mode,
    (await Deno.stat(`${folder}/java/certs/auth.p12`)).mode,
  );

  await Deno.remove(`${folder}/new/conf`, { recursive: true });
  await Deno.writeTextFile(`${folder}/new/certs/auth.p12`, "mine");
  const again = await at.run("migrate", "../java");
  assert.match(again.printed, /^not copied: certs\/auth\.p12: is there already$/m);
  assert.equal(await Deno.readTextFile(`${folder}/new/certs/auth.p12`), "mine");
});

Deno.test("migrate copies nothing from outside the folder of the Java service", async () => {
  await using at = await site("variant_a", { "../outside.p12": "x" });
  const main = `${at.folder}/java/conf/container.properties`;
  const text = await Deno.readTextFile(main);
  await Deno.writeTextFile(main, text.replace("conf/certs/auth.p12", "../outside.p12"));
  const { printed } = await at.run("migrate", "../java");
  assert.doesNotMatch(printed, /^copied:/m);
});

Deno.test("migrate reports where it looked for a configuration", async () => {
  await using at = await site("variant_a");
  const { code, printed } = await at.run("migrate", "..");
  assert.equal(code, 1);
  assert.match(printed, /^authserver migrate: Expected container\.properties in \S+ or in \S+\/conf: /);
});

const DISK = await mountSmallDisk(64);
Deno.test.afterAll(async () => await DISK?.[Symbol.asyncDispose]());

Deno.test({
  name: "migrate leaves nothing that looks complete if it fails midway",
  ignore: DISK === undefined,
  async fn() {
    await using at = await site("variant_a", { "conf/zz-large": "x".repeat(200_000) });
    const folder = `${DISK?.path}/new`;
    const { code, err } = await authserver.run(["migrate", `${at.folder}/java`, "--directory", folder], "/");
    assert.equal(code, 1);
    assert.match(err, /conf: .*(?:No space left|ENOSPC)/);
    assert.deepEqual(Array.from(Deno.readDirSync(folder)), []);
  },
});

/** Returns an old configuration in `/etc/x/conf` with these keys. */
const old = (...keys: readonly string[]) => ({ conf: "/etc/x/conf", keys: new Set(keys) });

Deno.test("convertProperties() gives the new service its own folder, with any line end and separator", () => {
  for (
    const [before, after] of [
      ["persistence.directory=/opt/data\r\n", "persistence.directory=data\r\n"],
      ["persistence.directory /opt/data\n", "persistence.directory data\n"],
      ["STARTLOG=/var/log/x.log\r\n", "STARTLOG=logs/authserver-startup.log\r\n"],
      ["persistence.directory=${D}/shares\r\n", "persistence.directory=data\r\n"],
      ["$var.CONF=/etc/x/conf\r\n", "$var.CONF=conf\r\n"],
      ["OPTS=-Da=file:///etc/x/conf/a:/etc/x/conf\n", "OPTS=-Da=file://conf/a:conf\n"],
      ["persistence.class=x.MySQLPersist\n", "persistence.directory=data\n"],
    ] as const
  ) {
    assert.equal(convertProperties(before, old()).text, after);
  }
  const mysql = convertProperties("persistence.class=x.MySQLPersist\n", old("persistence.directory"));
  assert.equal(mysql.text, "#persistence.class=x.MySQLPersist\n");
  const explicit = { text: "a=b\r\n", changes: [] };
  assert.deepEqual(withGateway(explicit, old("container.security.gateway.enable")), explicit);
});

Deno.test("convertProperties() leaves comments and other paths unchanged", () => {
  const text =
    "# /etc/x/conf/a\r\na=/etc/x/confer/b:/old/etc/x/conf/a\nd=/etc/x/conf.d/b\nb=/etc/x/conf/c\r\npersistence.directory=data\n";
  assert.deepEqual(convertProperties(text, old()), {
    text: text.replace("b=/etc/x/conf/c", "b=conf/c"),
    changes: [{ line: 4, before: "b=/etc/x/conf/c\r", after: "b=conf/c\r" }],
  });
});
