import assert from "node:assert/strict";
import { assertAlike } from "../../fixtures/assert_alike.ts";
import { serviceAccount, unreadableFor } from "../../../src/command/diagnosis/service_account.ts";

async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.chmod(folder, 0o755);
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const PASSWD = "root:x:0:0::/root:/bin/sh\nauthserver:x:4711:4712::/:/bin/false\nown:x:UID:GID::/:/bin/sh\n";

Deno.test("serviceAccount() returns the user of the installed unit, unless the administrator overrides it", async () => {
  await withFolder(async (folder) => {
    const places = {
      units: [`${folder}/a.service`, `${folder}/b.service`],
      dropIns: `${folder}/none`,
      folder,
      passwd: `${folder}/passwd`,
      group: `${folder}/group`,
    };
    await Deno.writeTextFile(places.passwd, PASSWD);
    await Deno.writeTextFile(places.group, "ssl-cert:x:4713:web,authserver\nweb:x:4714:\n");
    await Deno.writeTextFile(`${folder}/a.service`, "[Service]\nUser=somebody\n");
    assert.equal(await serviceAccount(`${folder}/container.properties`, places), undefined);
    await Deno.writeTextFile(`${folder}/b.service`, "[Service]\nUser=authserver\n");
    assert.deepEqual(await serviceAccount(`${folder}/container.properties`, places), {
      name: "authserver",
      uid: 4711,
      gids: [4712, 4713],
      bindsLow: false,
    });
  });
});

Deno.test("serviceAccount() reads the drop-ins of the unit, in the order of their names", async () => {
  await withFolder(async (folder) => {
    const unit = `${folder}/a.service`;
    const dropIns = `${unit}.d`;
    const places = { units: [unit], dropIns, folder, passwd: `${folder}/passwd`, group: `${folder}/group` };
    const account = () => serviceAccount(`${folder}/container.properties`, places);
    await Deno.writeTextFile(places.passwd, PASSWD);
    await Deno.writeTextFile(unit, "[Service]\nUser=own\nAmbientCapabilities=\n");
    await Deno.mkdir(dropIns);
    await Deno.writeTextFile(`${dropIns}/20.conf`, "[Service]\nUser=authserver");
    await Deno.writeTextFile(`${dropIns}/10.conf`, "[Service]\nUser=root\n");
    await Deno.writeTextFile(`${dropIns}/30.conf~`, "[Service]\nUser=root\n");
    assert.deepEqual(await account(), { name: "authserver", uid: 4711, gids: [4712], bindsLow: false });
    await Deno.writeTextFile(`${dropIns}/port.conf`, "[Service]\nAmbientCapabilities=CAP_NET_BIND_SERVICE\n");
    assert.equal((await account())?.bindsLow, true);
    await Deno.writeTextFile(places.group, "a:x:1:\nb:x:2:\nc:x:3:\nd:x:4:\n");
    await Deno.writeTextFile(`${dropIns}/groups.conf`, "Group=a\nGroup=b\nSupplementaryGroups=c d\n");
    assert.deepEqual((await account())?.gids, [4712, 2, 3, 4], "the last group, and all further ones");
  });
});

Deno.test("serviceAccount() elsewhere returns the owner of the folder, or undefined if that is root", async () => {
  await withFolder(async (folder) => {
    const { uid } = await Deno.stat(folder);
    const places = {
      units: [],
      dropIns: "/none",
      folder: "/none",
      passwd: `${folder}/passwd`,
      group: `${folder}/group`,
    };
    await Deno.writeTextFile(places.passwd, PASSWD.replace("UID", String(uid)).replace("GID", "5"));
    const account = await serviceAccount(`${folder}/container.properties`, places);
    if (uid === 0) assert.equal(account, undefined);
    else assertAlike(account, { name: "own", uid, gids: [5] });
  });
});

Deno.test("unreadableFor() returns files and folders that an account may not read", async () => {
  await withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/closed`, { mode: 0o700 });
    const files = ["open", "key", "closed/within"].map((name) => `${folder}/${name}`);
    for (const file of files) await Deno.writeTextFile(file, "", { mode: 0o600 });
    await Deno.chmod(`${folder}/open`, 0o644);
    const { uid, gid } = await Deno.stat(folder);
    const stranger = { name: "authserver", uid: 987_654, gids: [987_654] };
    const told = (await unreadableFor(stranger, [...files, `${folder}/missing`], `${folder}/conf/c`)).map((
      { file, expected, fix },
    ) => [file, expected, fix].join(": ").replaceAll(folder, ""));
    assert.deepEqual(told, [
      "/key: authserver may not read it: chgrp authserver /key && chmod g+r /key",
      "/closed/within: authserver may not enter /closed: copy it to a folder of authserver, such as /etc/authserver, and set the key to the copy",
    ]);
    const [ofService] = await unreadableFor(stranger, [`${folder}/closed/within`], `${folder}/closed/c`);
    assert.equal(ofService?.fix, `chgrp authserver ${folder}/closed && chmod g+x ${folder}/closed`);
    assert.deepEqual(await unreadableFor({ name: "own", uid: uid ?? 0, gids: [] }, files, `${folder}/c`), []);
    await Deno.chmod(`${folder}/key`, 0o640);
    assert.deepEqual(
      await unreadableFor({ ...stranger, gids: [gid ?? 0] }, [`${folder}/key`], `${folder}/c`),
      [],
    );
  });
});

Deno.test("unreadableFor() follows links of files and folders", async () => {
  await withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/closed`, { mode: 0o755 });
    await Deno.mkdir(`${folder}/conf`, { mode: 0o755 });
    await Deno.writeTextFile(`${folder}/closed/key`, "", { mode: 0o644 });
    await Deno.mkdir(`${folder}/closed/keys`, { mode: 0o755 });
    await Deno.writeTextFile(`${folder}/closed/keys/key`, "", { mode: 0o644 });
    await Deno.symlink("../closed/key", `${folder}/conf/key`);
    await Deno.symlink("../closed/keys", `${folder}/conf/keys`);
    const stranger = { name: "authserver", uid: 987_654, gids: [987_654] };
    const told = async () => {
      const files = [`${folder}/conf/key`, `${folder}/conf/keys/key`];
      const found = await unreadableFor(stranger, files, `${folder}/conf/c`);
      return found.map(({ file, expected }) => `${file}: ${expected}`.replaceAll(folder, ""));
    };
    assert.deepEqual(await told(), []);
    await Deno.chmod(`${folder}/closed`, 0o700);
    assert.deepEqual(await told(), [
      "/conf/key: authserver may not enter /closed",
      "/conf/keys/key: authserver may not enter /closed",
    ]);
  });
});

Deno.test("unreadableFor() names the topmost folder that an account may not enter, at any depth", async () => {
  await withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/a/b/c`, { recursive: true });
    await Deno.writeTextFile(`${folder}/a/b/c/file`, "", { mode: 0o644 });
    const stranger = { name: "authserver", uid: 987_654, gids: [987_654] };
    const closed = async (modes: Readonly<Record<string, number>>) => {
      for (const path of ["a", "a/b", "a/b/c"]) await Deno.chmod(`${folder}/${path}`, modes[path] ?? 0o755);
      const diagnostics = await unreadableFor(stranger, [`${folder}/a/b/c/file`], `${folder}/c`);
      return diagnostics.map(({ expected }) => expected.replace(folder, ""));
    };
    assert.deepEqual(await closed({}), []);
    assert.deepEqual(await closed({ "a/b/c": 0o700 }), ["authserver may not enter /a/b/c"]);
    assert.deepEqual(await closed({ a: 0o700 }), ["authserver may not enter /a"]);
    assert.deepEqual(await closed({ a: 0o700, "a/b/c": 0o700 }), ["authserver may not enter /a"]);
    await closed({});
  });
});
