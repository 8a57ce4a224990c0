/**
 * Links of the Java service, imported from dumps of its own storage, over HTTPS and under every share server.
 */
import assert from "node:assert/strict";
import { runCommand } from "../../../src/command/run_command.ts";
import { recordedIo } from "../../command/recorded_io.ts";
import { passwordLine, runService } from "../running_service.ts";

const SERVERS = ["TEST", "GRP"];
const DUMPS = new URL("../../fixtures/java_shares/", import.meta.url);
const ANN = ["ann", "ann-4711"] as const;
const BEN = ["ben", "ben-4711"] as const;
const CY = ["cy", "cy-4711"] as const;

/** Shares of `WriteShares.java` by path: the link's suffix, the file with its text, and who may read it. */
const LINKS: Readonly<
  Record<string, readonly [below: string, file: string, as?: readonly [string, string]]>
> = {
  "results/plain.txt": ["", "results/plain.txt", BEN],
  "results/folder/": ["/inside.txt", "results/folder/inside.txt", CY],
  "数据/🗄/": ["/größe.txt", "数据/🗄/größe.txt", BEN],
};
/** One-time share for everybody. */
const ONE_TIME = `Größe "a", b's; c\\d.txt`;

/**
 * Imports a dump with its paths moved below a folder.
 * @returns Summary of the import, and a lookup of shares by path below the folder.
 */
async function imported(data: string, dump: string) {
  const file = `${system.folder}/${dump}`;
  const text = await Deno.readTextFile(new URL(dump, DUMPS));
  await Deno.writeTextFile(file, text.replaceAll("/data/", `${data}/`));
  const share = async (...args: readonly string[]) => {
    const io = recordedIo();
    await runCommand(["share", ...args, "--config", system.main], io);
    return io.out;
  };
  const summary = await share("import", "--partial", file);
  const shares = new Map<string, { readonly id: string; readonly oneTime?: boolean }>();
  for (const listed of JSON.parse(await share("list", "--json"))) shares.set(listed.path, listed);
  return {
    summary,
    shareOf: (path: string) => shares.get(`${data}/${path}`) ?? assert.fail(`no share of ${path}`),
  };
}

const databases = Map.groupBy(
  Array.from(Deno.readDirSync(DUMPS), ({ name }) => name).filter((name) => /\.(?:csv|sql)$/.test(name))
    .sort(),
  (name) => name.replace(/\.\w+$/, ""),
);

const users = Object.fromEntries(
  ["ann", "ben", "cy"].map((name, i) => [name, { uid: 1001 + i, home: "/home", groups: ["users", "hpc"] }]),
);
const system = await runService({
  servers: { TEST: [{ users }], GRP: [{ users }] },
  passwords: passwordLine(ANN, "UID=ann@example.org") +
    passwordLine(BEN, "CN=Ben Müller,O=Site \\, Example,C=DE") +
    passwordLine(CY, "CN=Cy,O=Example"),
  map: "{}",
  properties: {
    "share.servers": SERVERS.join(" "),
    "share.allowWriteAccess": "true",
    "persistence.directory": "{folder}/data",
  },
});
Deno.test.afterAll(() => system[Symbol.asyncDispose]());

for (const [database, dumps] of databases) {
  Deno.test(`links of a Java service with ${database} answer under both share servers`, async () => {
    const data = await Deno.realPath(await Deno.makeTempDir({ prefix: "authserver-data-" }));
    await using _ = { [Symbol.asyncDispose]: () => Deno.remove(data, { recursive: true }) };
    for (const folder of ["results/folder", "数据/🗄"]) {
      await Deno.mkdir(`${data}/${folder}`, { recursive: true });
    }
    const files = [...Object.values(LINKS).map(([, file]) => file), ONE_TIME];
    for (const file of files) await Deno.writeTextFile(`${data}/${file}`, `text of ${file}`);

    const [first = "", ...others] = dumps;
    const { summary, shareOf } = await imported(data, first);
    const [, count] = /^([45]) shares imported/.exec(summary) ?? assert.fail(summary);
    for (const other of others) {
      assert.match(
        (await imported(data, other)).summary,
        new RegExp(`^0 shares imported, ${count} there already`),
      );
    }
    for (const server of SERVERS) {
      const get = (path: string, as?: readonly [string, string]) =>
        system.ask(`/rest/access/${server}/${path}`, { as });
      for (const [path, [below, file, as]] of Object.entries(LINKS)) {
        const { status, text } = await get(`${shareOf(path).id}${encodeURI(below)}`, as);
        assert.deepEqual([status, text], [200, `text of ${file}`], `${server}: ${path}`);
        assert.equal((await get(`${shareOf(path).id}${encodeURI(below)}`)).status, 401, `${server}: ${path}`);
      }
    }
    const { id, oneTime } = shareOf(ONE_TIME);
    assert.equal(oneTime, database !== "h2_1.4", "the storage of 2021 had none for one use");
    const once = await system.ask(`/rest/access/GRP/${id}`);
    assert.deepEqual([once.status, once.text], [200, `text of ${ONE_TIME}`]);
    for (const server of SERVERS) {
      const { status } = await system.ask(`/rest/access/${server}/${id}`);
      assert.equal(status, oneTime ? 404 : 200, server);
    }
  });
}
