import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { inspectPlaces } from "../../../src/command/diagnosis/inspect_places.ts";
import { loadSnapshot } from "../../../src/service/assembly/load_snapshot.ts";
import { mountSmallDisk } from "../../faults/small_disk.ts";
import { createSite } from "../../system/running_service.ts";

const ACCOUNT = { name: "authserver", uid: 54_321, gids: [54_321] };

/** Settings with a path in another account's folder, and the severity if the service cannot write there. */
const PLACES: readonly (readonly [key: string, path: string, severity: "error" | "warning"])[] = [
  ["persistence.directory", "other/data", "error"],
  ["container.control.socket", "other/control.sock", "error"],
  ["container.logging.file", "other/authserver.log", "warning"],
  ["container.audit.file", "other/audit.log", "warning"],
];

for (const [key, path, severity] of PLACES) {
  Deno.test(`inspectPlaces() checks ${key} for the account of the service, and names the required owner`, async () => {
    const own = {
      "container.logging.file": "-",
      "container.audit.file": "-",
      "container.control.socket": "-",
    };
    await using site = await createSite({ properties: { ...own, [key]: `{folder}/${path}` } });
    const folder = `${site.folder}/other`;
    await Deno.mkdir(folder, { mode: 0o755 });
    await Deno.chmod(site.folder, 0o755);
    const { snapshot, effective } = await loadSnapshot(site.main, { environment: () => undefined });
    assert.ok(snapshot);
    const found = await inspectPlaces({ snapshot, effective }, { account: ACCOUNT });
    assert.deepEqual(found.map((finding) => [finding.severity, finding.key]), [[severity, key]]);
    const [{ expected = "", fix = "", line = 0 } = {}] = found;
    assert.match(expected, /authserver may not write to \S+\/other$/);
    assert.ok(line > 0);
    assert.equal(
      fix,
      key === "persistence.directory"
        ? `install -d -o authserver -m 700 ${site.folder}/${path}`
        : `set ${key} to a path in a folder of authserver, such as /${
          key.endsWith("socket") ? "run" : "var/log"
        }/authserver`,
    );
    if (Deno.uid() !== 0) return;
    await Deno.chown(site.folder, ACCOUNT.uid, ACCOUNT.uid);
    const [among] = await inspectPlaces({ snapshot, effective }, { account: ACCOUNT });
    if (key !== "persistence.directory") assert.equal(among?.fix, `chown authserver ${folder}`);
    await Deno.chown(folder, ACCOUNT.uid, ACCOUNT.uid);
    assert.deepEqual(await inspectPlaces({ snapshot, effective }, { account: ACCOUNT }), []);
  });
}

Deno.test("inspectPlaces() accepts a folder that another instance creates meanwhile", async () => {
  await using site = await createSite({ properties: { "persistence.directory": "{folder}/data" } });
  const data = `${site.folder}/data`;
  const { snapshot, effective } = await loadSnapshot(site.main, { environment: () => undefined });
  assert.ok(snapshot);
  const { stat } = Deno;
  Object.assign(Deno, {
    stat: async (path: string) => {
      try {
        return await stat(path);
      } finally {
        if (path === data) await Deno.mkdir(data, { recursive: true });
      }
    },
  });
  try {
    const found = await inspectPlaces({ snapshot, effective });
    assert.deepEqual(found.filter(({ key }) => key === "persistence.directory"), []);
  } finally {
    Object.assign(Deno, { stat });
  }
  assert.ok((await Deno.stat(data)).isDirectory);
});

Deno.test("inspectPlaces() names the folder that this account may not enter, and does not treat it as a file", async () => {
  await using site = await createSite({ properties: { "persistence.directory": "{folder}/closed/a/data" } });
  const closed = `${site.folder}/closed`;
  await Deno.mkdir(closed);
  const { snapshot, effective } = await loadSnapshot(site.main, { environment: () => undefined });
  assert.ok(snapshot);
  const { stat, lstat } = Deno;
  const closing = (read: (path: string) => Promise<Deno.FileInfo>) => async (path: string) => {
    if (path.startsWith(`${closed}/`)) throw new Deno.errors.PermissionDenied();
    return await read(path);
  };
  Object.assign(Deno, { stat: closing(stat), lstat: closing(lstat) }); // root may enter everything
  try {
    const [found] = await inspectPlaces({ snapshot, effective });
    assert.equal(found?.expected, `this account may not enter ${closed}`);
    assert.match(found.fix ?? "", /^set persistence\.directory to a path in a folder of this account/);
  } finally {
    Object.assign(Deno, { stat, lstat });
  }
});

Deno.test("inspectPlaces() detects an unwritable folder, even in a running service, which may not read its account", async () => {
  await using site = await createSite({ properties: { "container.control.socket": "{folder}/c.sock" } });
  const { snapshot, effective } = await loadSnapshot(site.main, { environment: () => undefined });
  assert.ok(snapshot);
  const { makeTempFile, uid } = Deno;
  const refuse = () => {
    throw new Deno.errors.NotCapable();
  };
  Object.assign(Deno, { makeTempFile: refuse, uid: refuse });
  try {
    const found = await inspectPlaces({ snapshot, effective }, { inUse: true });
    assert.equal(
      found.find(({ key }) => key === "container.control.socket")?.expected,
      `this account may not write to ${site.folder}`,
    );
  } finally {
    Object.assign(Deno, { makeTempFile, uid });
  }
});

Deno.test("inspectPlaces() names key and line of a port on which this account may not listen", async () => {
  await using site = await createSite({ properties: { "container.port": "443" } });
  const { snapshot, effective } = await loadSnapshot(site.main, { environment: () => undefined });
  assert.ok(snapshot);
  const { listen } = Deno;
  Object.assign(Deno, {
    listen: () => {
      throw new Deno.errors.PermissionDenied();
    },
  });
  try {
    const [found] = await inspectPlaces({ snapshot, effective });
    assert.equal(found?.key, "container.port");
    assert.equal(found.found, "443");
    assert.match(
      (await Deno.readTextFile(site.main)).split("\n")[(found.line ?? 0) - 1] ?? "",
      /^container\.port=443$/,
    );
  } finally {
    Object.assign(Deno, { listen });
  }
});

Deno.test("inspectPlaces() proposes to restore a backup for a database of a newer version, not to move it away", async () => {
  await using site = await createSite({ properties: { "persistence.directory": "{folder}/data" } });
  await Deno.mkdir(`${site.folder}/data`);
  using database = new DatabaseSync(`${site.folder}/data/shares.sqlite`);
  database.exec("PRAGMA user_version = 99");
  const { snapshot, effective } = await loadSnapshot(site.main, { environment: () => undefined });
  assert.ok(snapshot);
  const [found] = await inspectPlaces({ snapshot, effective });
  assert.match(found?.expected ?? "", /schema version 99/);
  assert.equal(
    found?.fix,
    "install the newer version again, or go back to the backup before it: authserver restore",
  );
});

Deno.test("inspectPlaces() warns of a port that the unit does not permit to the account of the service", async () => {
  await using site = await createSite({ properties: { "container.port": "443" } });
  const { snapshot, effective } = await loadSnapshot(site.main, { environment: () => undefined });
  assert.ok(snapshot);
  const found = async (bindsLow?: boolean) =>
    (await inspectPlaces({ snapshot, effective }, { account: { ...ACCOUNT, bindsLow } }))
      .filter(({ key }) => key === "container.port")
      .map(({ severity, found, expected }) => [severity, found, expected]);
  assert.deepEqual(await found(false), [["warning", "443", "authserver may not listen on it"]]);
  assert.deepEqual(await found(true), []);
  assert.deepEqual(await found(), []); // not started by a known unit
});

Deno.test("inspectPlaces() finds nothing wrong with folders of the unit that systemd gives to the account", async () => {
  const folder = "/var/log/authserver";
  await using site = await createSite({
    properties: { "container.logging.file": `${folder}/authserver.log` },
  });
  const { snapshot, effective } = await loadSnapshot(site.main, { environment: () => undefined });
  assert.ok(snapshot);
  const { stat, realPath } = Deno;
  const about = { ...await stat("/"), gid: 0, mode: 0o40700 };
  const found = async (owner: number, ofFile: number) => {
    Object.assign(Deno, {
      stat: async (path: string) => {
        if (path === folder) return { ...about, uid: owner };
        if (!path.startsWith(folder)) return await stat(path);
        return { ...about, uid: ofFile, isDirectory: false, isFile: true };
      },
      realPath: async (path: string) => path.startsWith(folder) ? path : await realPath(path),
    });
    try {
      const all = await inspectPlaces({ snapshot, effective }, { account: ACCOUNT });
      return all.filter(({ key }) => key === "container.logging.file").map(({ fix }) => fix);
    } finally {
      Object.assign(Deno, { stat, realPath });
    }
  };
  assert.deepEqual(await found(0, 0), [], "systemd changes the owners of both");
  assert.deepEqual(await found(ACCOUNT.uid, 0), [`chown authserver ${folder}/authserver.log`]);
});

Deno.test("inspectPlaces() does not send an account from a folder of the unit to this same folder", async () => {
  const path = "/var/lib/authserver/data";
  await using site = await createSite({ properties: { "persistence.directory": path } });
  const { snapshot, effective } = await loadSnapshot(site.main, { environment: () => undefined });
  assert.ok(snapshot);
  const { stat, lstat } = Deno;
  const closing = (read: (path: string) => Promise<Deno.FileInfo>) => async (path: string) => {
    if (path.startsWith("/var/lib/authserver/")) throw new Deno.errors.PermissionDenied();
    return path === "/var/lib/authserver" ? await stat("/") : await read(path);
  };
  Object.assign(Deno, { stat: closing(stat), lstat: closing(lstat) });
  try {
    const { expected, fix } = (await inspectPlaces({ snapshot, effective })).at(0) ?? {};
    assert.equal(expected, "this account may not enter /var/lib/authserver");
    assert.equal(fix, 'chown -R "$(id -un)" /var/lib/authserver');
  } finally {
    Object.assign(Deno, { stat, lstat });
  }
});

Deno.test("inspectPlaces() detects that the disk of the databases has no room for them, at a start only", async () => {
  await using disk = await mountSmallDisk(256);
  if (disk === undefined) return;
  await using site = await createSite({ properties: { "persistence.directory": disk.path } });
  const { snapshot, effective } = await loadSnapshot(site.main, { environment: () => undefined });
  assert.ok(snapshot);
  assert.deepEqual(await inspectPlaces({ snapshot, effective }), []);
  await disk.fill();
  const [found] = await inspectPlaces({ snapshot, effective });
  assert.equal(found?.key, "persistence.directory");
  assert.equal(found.expected, `the disk of ${disk.path} is full`);
  assert.deepEqual(await inspectPlaces({ snapshot, effective }, { inUse: true }), []);
});
