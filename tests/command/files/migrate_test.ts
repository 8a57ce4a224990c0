import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { cp } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { convertProperties } from "../../../src/command/files/migration/converted_text.ts";
import { createAuthority } from "../../pki/authority.ts";
import { runAuthserver } from "../../system/service_process.ts";

const FIXTURES = new URL("../../fixtures/java_installation/", import.meta.url).pathname;

/** A folder with an installation of the Java service in `java`, changed as wanted, and an empty one to run commands in. */
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
      const process = runAuthserver(args, { cwd: `${folder}/new` });
      return { code: await process.ended, printed: process.printed };
    },
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

/** Files below a folder: path -> mode, time of the last change, and content. */
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

/** Paths and contents only. */
async function contents(root: string): Promise<Record<string, string>> {
  const all = Object.entries(await listing(root));
  return Object.fromEntries(all.map(([path, facts]) => [path, facts.split(" ")[2] ?? ""]));
}

for (const variant of ["variant_a", "variant_b"]) {
  Deno.test(`migrate copies a Java installation, ${variant}, as it is; the copy is usable`, async () => {
    await using at = await site(variant);
    const { code, printed } = await at.run("migrate", "../java");
    assert.equal(code, 0, printed);
    assert.match(printed, /^\d+ files copied from \S+\/java\/conf to conf$/m);
    assert.match(printed, /XACML\n {4}not evaluated: .*nothing to do/);
    assert.match(printed, /valid: 0 errors/);
    assert.deepEqual(await contents(`${at.folder}/new/conf`), await contents(`${at.folder}/java/conf`));
    await at.unchanged();

    const again = await at.run("migrate", "../java");
    assert.equal(again.code, 1);
    assert.match(again.printed, /conf is there already, expected a folder without one; nothing was changed/);
  });
}

Deno.test("migrate names what needs a hand, with the commands", async () => {
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
    text.replace("conf/certs/auth.p12", "conf/certs/auth.jks") +
      "container.security.rest.authentication.OAUTH.identityAssign=foreach (x : y) { print(x) }\n",
  );
  const { code, printed } = await at.run("migrate", "../java/");
  assert.equal(code, 1, "it cannot start yet");
  const says = (...lines: readonly string[]) =>
    assert(printed.includes(lines.join("\n")), `${lines}\n${printed}`);
  const line = text.split("\n").findIndex((each) => each.includes("credential.path")) + 1;
  says(
    "  Java key store",
    "    keytool -importkeystore -srckeystore conf/certs/auth.jks -destkeystore conf/certs/auth.p12 -deststoretype pkcs12",
    `    conf/container.properties:${line}: container.security.credential.path=conf/certs/auth.p12`,
  );
  says("    conf/xacml2Policies/99own.xml");
  says("  MVEL\n    conf/container.properties:");
  says(
    "  Shares of TEST in H2",
    "    with the old service stopped:",
    `    java -cp '${at.folder}/java/lib/*' org.h2.tools.Shell -url 'jdbc:h2:file:${at.folder}/java/data/SHARES_TEST' ` +
      `-user sa -sql "CALL CSVWRITE('shares-TEST.csv', 'SELECT * FROM SHARES_TEST', 'charset=UTF-8')"`,
    "    authserver share import --server TEST shares-TEST.csv",
  );
  for (const file of ["old.der", "old.p12", "trusted/old.pem"]) {
    says("  X.509 version 1", `    conf/certs/${file}: CN=Old daemon,O=Site`);
  }
  says("The service would not start");
});

/** A certificate and its key in a PKCS#12 store, made by OpenSSL. */
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

for (const format of ["gnu", "pax", "ustar"]) {
  Deno.test(`migrate takes an archive as ${format} has it, and leaves it packed`, async () => {
    const long = `${"long-".repeat(18)}name`;
    await using at = await site("variant_b", {
      [`conf/certs/trusted/${long}/note.txt`]: "kept",
      "lib/h2.jar": "not read",
      "data/SHARES_TEST.mv.db": "H:2",
    });
    const conf = `${at.folder}/java/conf`;
    const main = await Deno.readTextFile(`${conf}/container.properties`);
    await Deno.writeTextFile(
      `${conf}/container.properties`,
      main.replaceAll("=conf/", "=/opt/site/java/conf/"),
    );
    const tar = await new Deno.Command("tar", {
      args: ["-czf", "java.tar.gz", `--format=${format}`, "java"],
      cwd: at.folder,
    }).output();
    assert(tar.success, new TextDecoder().decode(tar.stderr));
    await Deno.rename(`${at.folder}/java`, `${at.folder}/away`);
    const { code, printed } = await at.run("migrate", "../java.tar.gz");
    assert.equal(code, 0, printed);
    assert.match(printed, /files copied from \S+\/java\.tar\.gz to conf$/m);
    assert.equal(await Deno.readTextFile(`${at.folder}/new/conf/container.properties`), main);
    assert.equal(await Deno.readTextFile(`${at.folder}/new/conf/certs/trusted/${long}/note.txt`), "kept");
    assert(printed.includes(`tar -xzf ${at.folder}/java.tar.gz -C ${at.folder}\n`), printed);
    assert(printed.includes(`jdbc:h2:file:${at.folder}/java/data/SHARES_TEST`), printed);
  });
}

Deno.test("migrate goes on with the PostgreSQL of the Java service, beside its tables", async () => {
  await using at = await site("variant_a");
  const main = `${at.folder}/java/conf/container.properties`;
  const chosen = "persistence.class=eu.unicore.persist.impl.PGSQLPersist\npersistence.host=localhost\n" +
    "persistence.database=unicore\npersistence.user=unicore\npersistence.driver=org.postgresql.Driver\n";
  const text = (await Deno.readTextFile(main)).replace(/^persistence\.class=.*\n/m, "");
  await Deno.writeTextFile(main, text + chosen);
  const { code, printed } = await at.run("migrate", "../java");
  assert.equal(code, 0, printed);
  assert.match(printed, /Shares in PostgreSQL\n {4}authserver database migrate # makes tables of ours/);
  assert.match(printed, /write the table SHARES_CLUSTER out as CSV[^]*share import/);
  assert.match(printed, /valid: 0 errors/);
});

Deno.test("migrate leaves nothing to do about shares where nobody shared", async () => {
  await using at = await site("variant_a");
  const main = `${at.folder}/java/conf/container.properties`;
  const chosen = "persistence.class=eu.unicore.persist.impl.PGSQLPersist\npersistence.host=localhost\n" +
    "persistence.database=unicore\npersistence.user=unicore\n";
  const text = (await Deno.readTextFile(main)).replace(/^(?:persistence\.class|share\.servers)=.*\n/gm, "");
  await Deno.writeTextFile(main, text + chosen);
  const { code, printed } = await at.run("migrate", "../java");
  assert.equal(code, 0, printed);
  assert.doesNotMatch(printed, /Shares in/);
});

for (
  const [what, make, message] of [
    ["no archive", () => new TextEncoder().encode("hello"), /java\.tar\.gz cannot be read as a \.tar\.gz/],
    ["something else compressed", () => gzipSync("x".repeat(2000)), /it holds no tar archive/],
    ["an archive that is cut off", (packed) => packed.subarray(0, packed.length / 2), /cannot be read as/],
    [
      "one without a configuration",
      () => gzipSync(new Uint8Array(1024)),
      /Expected container\.properties in/,
    ],
  ] as readonly [string, (packed: Uint8Array) => Uint8Array, RegExp][]
) {
  Deno.test(`migrate refuses ${what}, and writes nothing`, async () => {
    await using at = await site("variant_a");
    await new Deno.Command("tar", { args: ["-czf", "java.tar.gz", "java"], cwd: at.folder }).output();
    const packed = await Deno.readFile(`${at.folder}/java.tar.gz`);
    await Deno.writeFile(`${at.folder}/java.tar.gz`, make(packed));
    const { code, printed } = await at.run("migrate", "../java.tar.gz");
    assert.equal(code, 1, printed);
    assert.match(printed, message);
    assert.deepEqual(await Array.fromAsync(Deno.readDir(`${at.folder}/new`)), []);
  });
}

Deno.test("migrate takes no file out of an archive to a place outside", async () => {
  await using at = await site("variant_a");
  const tar = ["-czPf", "java.tar.gz", "--transform=s,java/conf/startup.properties,../planted,", "java"];
  assert((await new Deno.Command("tar", { args: tar, cwd: at.folder }).output()).success);
  const { code, printed } = await at.run("migrate", "../java.tar.gz");
  assert.equal(code, 1, printed);
  assert.match(printed, /\.\.\/planted is no path below a folder/);
});

Deno.test("migrate takes the folder of the package, and makes paths of a place of its own", async () => {
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

Deno.test("migrate brings files beside conf/ that the configuration names, as the archive's own template has them", async () => {
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

Deno.test("migrate brings nothing from outside the folder of the Java service", async () => {
  await using at = await site("variant_a", { "../outside.p12": "x" });
  const main = `${at.folder}/java/conf/container.properties`;
  const text = await Deno.readTextFile(main);
  await Deno.writeTextFile(main, text.replace("conf/certs/auth.p12", "../outside.p12"));
  const { printed } = await at.run("migrate", "../java");
  assert.doesNotMatch(printed, /^copied:/m);
});

Deno.test("migrate says where it looked for a configuration", async () => {
  await using at = await site("variant_a");
  const { code, printed } = await at.run("migrate", "..");
  assert.equal(code, 1);
  assert.match(printed, /^authserver migrate: Expected container\.properties in \S+ or in \S+\/conf: /);
});

Deno.test("convertProperties() leaves comments and all that is not of the old place as it is", () => {
  const text = "# /etc/x/conf/a\r\na=/etc/x/confer/b\nb=/etc/x/conf/c\r\npersistence.directory=data\n";
  assert.deepEqual(convertProperties(text, "/etc/x/conf"), {
    text: text.replace("b=/etc/x/conf/c", "b=conf/c"),
    changes: [{ line: 3, before: "b=/etc/x/conf/c\r", after: "b=conf/c\r" }],
  });
});
