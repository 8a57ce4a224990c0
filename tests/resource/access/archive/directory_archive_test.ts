import assert from "node:assert/strict";
import { LONG_AGO } from "../../../sharing/site.ts";
import { ARCHIVE_BOUNDS, SharedTree } from "../../../../src/resource/access/archive/shared_tree.ts";
import { createLogger } from "../../../../src/logging/logger.ts";
import { httpError } from "../../../../src/model/http_error.ts";
import { SharingSite } from "../../sharing_site.ts";

/** Reads the members of an archive by its central directory, as programs that unpack it do. */
function membersOf(archive: Uint8Array): Map<string, string> {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.length);
  const end = archive.length - 22;
  assert.equal(view.getUint32(end, true), 0x06054b50, "no end of the archive");
  const members = new Map<string, string>();
  let at = view.getUint32(end + 16, true);
  for (let i = view.getUint16(end + 10, true); i > 0; i--) {
    const [size, name, more, local] = [
      view.getUint32(at + 24, true),
      view.getUint16(at + 28, true),
      view.getUint16(at + 30, true),
      view.getUint32(at + 42, true),
    ];
    const text = (from: number, length: number) =>
      new TextDecoder().decode(archive.subarray(from, from + length));
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    members.set(text(at + 46, name), text(start, size));
    at += 46 + name + more;
  }
  return members;
}

async function archiveOf(site: SharingSite, path: string): Promise<Map<string, string>> {
  const response = await site.ask("anonymous", "GET", `access/HPC/${path}view=zip`);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("Content-Type"), "application/zip");
  return membersOf(new Uint8Array(await response.arrayBuffer()));
}

Deno.test("a directory anywhere in a share is downloaded as one archive, in one use", async () => {
  await using site = await SharingSite.open();
  await Deno.writeTextFile(`${site.root}/d/sub/empty`, "");
  const id = await site.share("d/", { maxUses: 4 });
  const all = [["d/", ""], ["d/ten.txt", "0123456789"], ["d/sub/", ""], ["d/sub/empty", ""], [
    "d/sub/x.dat",
    "x",
  ]];
  assert.deepEqual([...await archiveOf(site, `${id}?`)].toSorted(), all.toSorted());
  assert.deepEqual([...await archiveOf(site, `${id}/?`)].toSorted(), all.toSorted());
  const below = [["sub/", ""], ["sub/empty", ""], ["sub/x.dat", "x"]];
  for (const path of [`${id}/sub?`, `${id}/sub/?`]) {
    assert.deepEqual([...await archiveOf(site, path)].toSorted(), below.toSorted());
  }
  const over = await site.ask("anonymous", "GET", `access/HPC/${id}?view=zip`);
  assert.equal(over.status, 404);
  await over.text();
  await site.site.allClosed();
});

Deno.test("an archive has its name in the header; HEAD has no body and takes no use", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/", { onetime: true });
  const head = await site.ask("anonymous", "HEAD", `access/HPC/${id}?view=zip`);
  assert.equal(head.headers.get("Content-Disposition"), 'attachment; filename="d.zip"');
  assert.equal(await head.text(), "");
  assert.equal((await archiveOf(site, `${id}?`)).size, 4);
});

Deno.test("a file is not downloaded as an archive", async () => {
  await using site = await SharingSite.open();
  const file = await site.share("d/ten.txt");
  const directory = await site.share("d/");
  for (const path of [`${file}?view=zip`, `${directory}/ten.txt?view=zip`]) {
    const response = await site.ask("anonymous", "GET", `access/HPC/${path}`);
    assert.equal(response.status, 404, path);
    await response.text();
  }
});

Deno.test("names in an archive are unique, and safe on any system that unpacks it", async () => {
  await using site = await SharingSite.open();
  await Deno.mkdir(`${site.root}/d/evil`);
  for (
    const name of ["..\\..\\run.bat", ".._.._run.bat", "C:boot.ini", "C_boot.ini", "a:b:c", "-rf", "..."]
  ) {
    await Deno.writeTextFile(`${site.root}/d/evil/${name}`, name);
  }
  const members = await archiveOf(site, `${await site.share("d/evil/")}?`);
  assert.deepEqual(
    [...members].toSorted(),
    [
      ["evil/", ""],
      ["evil/-rf", "-rf"],
      ["evil/...", "..."],
      ["evil/.._.._run.bat", ".._.._run.bat"],
      ["evil/.._.._run.bat_", "..\\..\\run.bat"],
      ["evil/C_boot.ini", "C_boot.ini"],
      ["evil/C_boot.ini_", "C:boot.ini"],
      ["evil/a_b:c", "a:b:c"],
    ].toSorted(),
  );
  assert.equal(members.size, 8);
});

Deno.test("SharedTree numbers equal names in an archive onwards, not each from the beginning", async () => {
  const names = Array.from(
    { length: 2_000 },
    (_, i) => i.toString(2).padStart(16, "0").replaceAll("0", "_").replaceAll("1", "\\"),
  );
  const session: ConstructorParameters<typeof SharedTree>[0] = {
    list: (_path, take) => {
      for (const name of names) take({ name, kind: "file", size: 0, permissions: "r" });
      return Promise.resolve({ complete: true, unreadable: 0 });
    },
    series: () =>
      Promise.resolve({
        next: () => {
          throw new Error("there is nothing in these files");
        },
        close: () => {},
      }),
  };
  const found = new Set<string>();
  for await (const { name } of new SharedTree(session).entries("/d/", "d")) {
    found.add(name);
    assert.ok(
      name.length <= "d/".length + 16 + "_2000".length,
      "each takes as many looks as its name got longer",
    );
  }
  assert.equal(found.size, names.length + 1);
});

Deno.test("an archive of a directory with circular links ends", async () => {
  await using site = await SharingSite.open();
  await Deno.mkdir(`${site.root}/loop`);
  await Deno.symlink(".", `${site.root}/loop/again`);
  await Deno.writeTextFile(`${site.root}/loop/a`, "a");
  const members = await archiveOf(site, `${await site.share("loop/")}?`);
  assert.equal(members.get("loop/again/again/a"), "a");
  assert(members.size <= 3 * ARCHIVE_BOUNDS.depth);
});

Deno.test("SharedTree respects its limits, and lists in a last file what it leaves out", async () => {
  await using site = await SharingSite.open();
  await Deno.mkdir(`${site.root}/tree/1/2/3`, { recursive: true });
  for (const name of ["a", "b", "1/c", "1/2/d", "NOT COMPLETE.txt"]) {
    await Deno.writeTextFile(`${site.root}/tree/${name}`, name);
  }
  const namesWithin = async (restrictions: { readonly entries: number; readonly depth: number }) => {
    const session = await site.site.session("tree/");
    let names = 0;
    let text = "";
    for await (
      const { name, open } of new SharedTree(session, restrictions).entries(`${site.root}/tree/`, "tree")
    ) {
      names++;
      const pieces = await Array.fromAsync(await open?.() ?? []);
      if (name === "tree/(2) NOT COMPLETE.txt") text = await new Blob(pieces).text();
    }
    session.close();
    return { names, text };
  };
  assert.deepEqual(await namesWithin({ entries: 9, depth: 9 }), { names: 9, text: "" });
  assert.deepEqual(await namesWithin({ entries: 9, depth: 2 }), {
    names: 7,
    text: "Not in this archive:\n\n1 x more than 2 directories deep\n",
  });
  const { names, text } = await namesWithin({ entries: 6, depth: 9 });
  assert.deepEqual([names, text], [8, "Not in this archive:\n\n2 x more than 6 files and directories\n"]);
});

Deno.test("an archive contains only what the owner may reach and read", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/");
  site.limits = { excludes: "*/sub" };
  assert.deepEqual([...(await archiveOf(site, `${id}?`)).keys()].toSorted(), ["d/", "d/ten.txt"]);
});

Deno.test("a complete archive causes no warning in the log", async () => {
  await using site = await SharingSite.open();
  const lines: string[] = [];
  site.log = createLogger((line) => lines.push(line));
  await archiveOf(site, `${await site.share("d/")}?`);
  await site.site.allClosed();
  assert.deepEqual(lines.filter((line) => !line.includes(" info  ")), []);
});

Deno.test("an archive is cut when the daemon fails, and the use is recorded as incomplete", async () => {
  await using site = await SharingSite.open();
  const lines: string[] = [];
  site.log = createLogger((line) => lines.push(line));
  await Deno.writeFile(`${site.root}/d/big`, new Uint8Array(300_000));
  await Deno.utime(`${site.root}/d/big`, LONG_AGO, LONG_AGO);
  const id = await site.share("d/");
  site.site.daemon.sessionFaults.always = { kind: "cut-data", after: 5, then: "close" };
  const response = await site.ask("anonymous", "GET", `access/HPC/${id}?view=zip`);
  await assert.rejects(response.arrayBuffer());
  assert.match(lines.join("\n"), /WARN.*archive ended early/i);
  const shown = await (await site.ask("alice", "GET", `share/HPC/${id}`)).json();
  assert.equal(shown.share.uses[0].complete, false);
});

Deno.test("a directory that the daemon does not list is answered with the error, and takes no use", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/", { onetime: true });
  const denied = {
    kind: "reply",
    to: "MLSD",
    reply: "500 Error processing command 'MLSD': [Errno 13] Permission denied",
  } as const;
  site.site.daemon.sessionFaults.always = denied;
  const response = await site.ask("anonymous", "GET", `access/HPC/${id}?view=zip`);
  assert.equal(response.status, 403, await response.text());
  site.site.daemon.sessionFaults.always = undefined;
  assert.equal((await archiveOf(site, `${id}?`)).size, 4);
  await site.site.allClosed();
});

Deno.test("an archive whose reader disconnects closes its connections to the daemon", async () => {
  await using site = await SharingSite.open();
  await Deno.writeFile(`${site.root}/d/big`, new Uint8Array(5_000_000));
  const id = await site.share("d/");
  const response = await site.ask("anonymous", "GET", `access/HPC/${id}?view=zip`);
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  await site.site.allClosed();
  const shown = await (await site.ask("alice", "GET", `share/HPC/${id}`)).json();
  assert.equal(shown.share.uses[0].complete, false);
});

Deno.test("an archive omits unreadable files and misleading names, says so and ends normally", async () => {
  await using site = await SharingSite.open();
  await Deno.mkdir(`${site.root}/d/closed`);
  await Deno.chmod(`${site.root}/d/closed`, 0o311);
  await Deno.writeTextFile(`${site.root}/d/two\nlines`, "x");
  await Deno.writeTextFile(`${site.root}/d/forged\nsize=5;type=file;perm=r; ghost`, "x");
  await Deno.writeTextFile(`${site.root}/d/last`, "still here");
  const members = await archiveOf(site, `${await site.share("d/")}?`);
  assert.equal(members.get("d/last"), "still here");
  assert.equal(members.get("d/ten.txt"), "0123456789");
  assert.ok(!members.has("d/ghost") && !members.has("d/two") && !members.has("d/forged"));
  const note = members.get("d/NOT COMPLETE.txt") ?? "";
  assert.match(note, /1 x names with control characters/);
  assert.match(note, /3 x files that cannot be read/);
  if (Deno.uid() !== 0) assert.match(note, /1 x directories that cannot be read/);
});

Deno.test("an archive omits a directory that the daemon does not list, unless it is the requested one", async () => {
  const entry = (name: string) => ({ name, kind: "directory", size: 0, permissions: "le" }) as const;
  const list = (path: string, take: (found: ReturnType<typeof entry>) => void) => {
    if (path !== "/d/") {
      return Promise.reject(httpError("ERR_NOT_FOUND", { what: "It", reason: "MLSD refused" }));
    }
    take(entry("closed"));
    return Promise.resolve({ complete: true, unreadable: 0 });
  };
  const series = () => Promise.resolve({ next: () => emptyBytes(), close: () => {} });
  const names = async (path: string) => {
    const found: string[] = [];
    for await (const { name } of new SharedTree({ list, series }).entries(path, "d")) found.push(name);
    return found;
  };
  assert.deepEqual(await names("/d/"), ["d/", "d/closed/", "d/NOT COMPLETE.txt"]);
  await assert.rejects(names("/e/"), { code: "ERR_NOT_FOUND" });
});

async function* emptyBytes(): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {}

Deno.test("the names of an archive take a limited number of bytes of memory", async () => {
  const long = "n".repeat(3000);
  const list = (
    _path: string,
    take: (found: { name: string; kind: "file"; size: number; permissions: string }) => void,
  ) => {
    for (let i = 0; i < 49_900; i++) take({ name: `${long}${i}`, kind: "file", size: 0, permissions: "r" });
    return Promise.resolve({ complete: true, unreadable: 0 });
  };
  const series = () => Promise.resolve({ next: () => emptyBytes(), close: () => {} });
  let bytes = 0;
  let last = "";
  for await (const { name } of new SharedTree({ list, series }).entries("/d/", "d")) {
    bytes += name.length;
    last = name;
  }
  assert.equal(last, "d/NOT COMPLETE.txt");
  assert.ok(bytes < ARCHIVE_BOUNDS.names + 100, `${bytes}`);
});
