import assert from "node:assert/strict";
import fc from "fast-check";
import { LONG, note } from "../../long/results.ts";
import { SharingSite } from "../sharing_site.ts";

/** Parts that attackers put into paths; `ROOT` stands for the parent of the shared folder. */
const PIECES = [
  "..",
  ".",
  "...",
  "/",
  "//",
  "%2f",
  "%2F",
  "%252f",
  "%5c",
  "\\",
  "%2e",
  "%2e%2e",
  "%2E%2E",
  "%252e%252e",
  "..%2f",
  "%2e%2e%2f",
  "..%5c",
  "....//",
  "..;/",
  "%c0%ae%c0%ae",
  "%c0%af",
  "%e0%80%ae",
  "%uff0e",
  "%00",
  "%00.txt",
  "%0a",
  "%0d%0a",
  "%0aRETR%20",
  "%0d%0aSTOR%20x",
  "%20",
  "%09",
  "%7f",
  "%c2%85",
  "%e2%80%a8",
  "%",
  "%f",
  "*",
  "?",
  "%3f",
  "[c]anary",
  "%2a",
  ":",
  "~",
  "~alice",
  "$HOME",
  "-la",
  "canary",
  "d2",
  "d2/canary",
  "../d2/canary",
  "data",
  "sub",
  "x.dat",
  "ten.txt",
  "ROOT",
  "%2fROOT%2fd2%2fcanary",
  "file:///",
  "etc/passwd",
];

/** Returns the texts of all files below a folder, by path. */
async function snapshot(folder: string, into = new Map<string, string>()): Promise<Map<string, string>> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) await snapshot(path, into);
    else into.set(path, await Deno.readTextFile(path));
  }
  return into;
}

/** Number of paths; `AUTHSERVER_LONG_TESTS=1` makes it 10,000. */
const COUNT = LONG ? 10_000 : 1_000;

/** Returns the same paths in each run. */
function hostilePaths(root: string): string[] {
  const path = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 7 })
    .chain((pieces) => fc.constantFrom("", "/").map((separator) => pieces.join(separator)));
  return fc.sample(path, { numRuns: COUNT, seed: 8 }).map((text) => text.replaceAll("ROOT", root));
}

Deno.test(`${COUNT} hostile paths read and write nothing outside of the share`, async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/", { access: "WRITE" });
  const outside = async () => {
    const files = await snapshot(site.root);
    for (const path of files.keys()) if (path.startsWith(`${site.root}/d/`)) files.delete(path);
    return files.set(site.site.canary, await Deno.readTextFile(site.site.canary));
  };
  const before = await outside();
  const paths = hostilePaths(site.root);
  const seen = new Map<number, number>();
  const visit = async (method: "GET" | "PUT", queue: string[]): Promise<void> => {
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
      const options = method === "PUT" ? { body: "written" } : {};
      const response = await site.ask("anonymous", method, `access/HPC/${id}/${path}`, options);
      const text = await response.text();
      assert.ok(!text.includes("CANARY"), path);
      seen.set(response.status, (seen.get(response.status) ?? 0) + 1);
    }
  };
  // All reads come before the writes: a read of a file that is replaced meanwhile ends with an error.
  const reading = paths.slice(COUNT / 5);
  await Promise.all(Array.from({ length: 8 }, () => visit("GET", reading)));
  const writing = paths.slice(0, COUNT / 5);
  await Promise.all(Array.from({ length: 8 }, () => visit("PUT", writing)));

  assert.deepEqual(await outside(), before);
  // The first session checked the path of the new share.
  for (const { commands, values } of site.site.daemon.sessions.slice(1)) {
    if (values !== undefined) {
      assert.ok(values.get("file")?.startsWith(`${site.root}/d/`), values.get("file"));
    }
    for (const command of commands) {
      const path = /^(?:MLST|MLSD|RETR|STOR|STAT F) (.*)$/.exec(command)?.[1];
      if (path === undefined) continue;
      assert.ok(path.startsWith(`${site.root}/d/`) || path === `${site.root}/d`, path);
      assert.ok(!path.split("/").includes(".."), path);
    }
  }
  // The service did not refuse all paths at once; otherwise the test would prove little.
  for (const status of [200, 404]) assert.ok((seen.get(status) ?? 0) > 20, JSON.stringify([...seen]));
  note("trials", {
    trial: "path traversal out of a shared directory",
    done: `${COUNT} paths read or written`,
    outcome: "nothing outside was read or changed",
  });
});

Deno.test("a symbolic link in a share leads wherever the owner's account may read (manual)", async () => {
  await using site = await SharingSite.open();
  await Deno.symlink(site.site.canary, `${site.root}/d/link`);
  const id = await site.share("d/");
  const response = await site.ask("anonymous", "GET", `access/HPC/${id}/link`);
  assert.deepEqual([response.status, await response.text()], [200, "CANARY"]);
});
