/** Uploads by browsers without script into a share with write access. */
import assert from "node:assert/strict";
import { ALICE_DN, MAP } from "../running_service.ts";
import { OWN_PAGE, Visitor } from "../visitor.ts";
import { SharingSystem } from "./sharing_system.ts";

const sharing = await SharingSystem.open({
  map: { [ALICE_DN]: { ...MAP[ALICE_DN], "uftpd.HPC.excludes": "*.key" } },
});
const { system, data } = sharing;
Deno.test.afterAll(() => sharing[Symbol.asyncDispose]());

const visitor = new Visitor(system);

async function send(
  to: string,
  files: readonly (readonly [string, string])[],
  headers: Readonly<Record<string, string>> = OWN_PAGE,
) {
  const parts = files.map(([name, text]) =>
    `--x1\r\nContent-Disposition: form-data; name="files"; filename="${name}"\r\n\r\n${text}\r\n`
  );
  return await visitor.get(`/drop/HPC/${to}`, {
    method: "POST",
    headers: { ...headers, "Content-Type": "multipart/form-data; boundary=x1" },
    body: `${parts.join("")}--x1--\r\n`,
  });
}

const names = (path: string) =>
  Array.from(Deno.readDirSync(`${data}/${path}`), ({ name }) => name).toSorted();
const text = (path: string) => Deno.readTextFile(`${data}/${path}`);

Deno.test("a form adds files to a shared directory, and replaces files only with access MODIFY", async () => {
  const id = await sharing.share("d/", { access: "WRITE" });
  const uploaded = await send(`${id}/sub/`, [["x.dat", "two"], ["new/y", "three"]]);
  assert.equal(uploaded.status, 201, uploaded.text);
  assert.match(uploaded.text, /2 files were uploaded[^]*<bdi>sub\/x \(2\)\.dat<[^]*<bdi>sub\/new\/y</);
  assert.match(uploaded.text, new RegExp(`href="[./]+rest/access/HPC/${id}/sub/"`));
  assert.deepEqual([await text("d/sub/x.dat"), await text("d/sub/x (2).dat")], ["x", "two"]);
  assert.equal((await send(`${id}/sub/?replace`, [["x.dat", "four"]])).status, 403);
  assert.equal(await text("d/sub/x.dat"), "x");

  await sharing.share("d/", { access: "MODIFY" });
  const replaced = await send(`${id}/sub/?replace`, [["x.dat", "four"]]);
  assert.equal(replaced.status, 201, replaced.text);
  assert.equal(await text("d/sub/x.dat"), "four");
  assert.equal((await send(`${id}?replace`, [["sub", "no file"]])).status, 409);
});

Deno.test("a form cannot upload without permission, outside the share, or from another site", async () => {
  const id = await sharing.share("d/", { access: "MODIFY" });
  const before = [names("d"), names("d/sub")];
  for (
    const [to, name, status] of [
      [`${id}/`, "my.key", 404],
      [`${id}/sub/`, "my.key", 404],
      [`${id}/sub/`, "../up", 400],
      [`${id}/%2e%2e/`, "up", 404],
      [`${id}/sub/`, ".bashrc", 400],
      [`${id}/ten.txt/`, "x", 400],
      [await sharing.share("d/sub/"), "x", 403],
      [await sharing.share("d/ten.txt", { access: "MODIFY" }), "x", 400],
    ] as const
  ) {
    const reply = await send(to, [[name, "x"]]);
    assert.equal(reply.status, status, `${to} ${name}: ${reply.text}`);
  }
  for (const site of ["cross-site", "same-site", "none"]) {
    assert.equal(
      (await send(`${id}/sub/?replace`, [["x.dat", "x"]], { "Sec-Fetch-Site": site })).status,
      403,
    );
  }
  assert.deepEqual([names("d"), names("d/sub")], before);
});

Deno.test("a form that fails midway reports the files that arrived before, and why it failed", async () => {
  const id = await sharing.share("d/", { access: "WRITE" });
  const page = await send(`${id}/sub/`, [["early", "1"], ["my.key", "2"], ["late", "3"]]);
  assert.equal(page.status, 404, page.text);
  assert.match(
    page.text,
    /1 file was uploaded[^]*<bdi>sub\/early<[^]*role="alert">The others failed: The file or directory was not found</,
  );
  assert.deepEqual(names("d/sub").filter((name) => /early|late|key/.test(name)), ["early"]);
});
