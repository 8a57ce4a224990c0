import assert from "node:assert/strict";

/** Tests of litmus that fail; `docs/files.md` gives the reasons. */
export const LITMUS_EXCEPTIONS: readonly string[] = [
  ...["propset", "propget", "propmove", "propdeletes", "propreplace", "propnullns", "prophighunicode"],
  ...["propremoveset", "propsetremove", "propvalnspace", "propmanyns", "owner_modify"], // dead properties
  ...["cond_put", "complex_cond_put"], // conditions on a file that is less than two seconds old
  "expect100", // litmus itself skips it with TLS
];

/** Returns the tests of litmus that did not pass; fails unless more than 70 passed. */
export async function litmus(
  url: string,
  [user, password]: readonly [string, string],
): Promise<readonly string[]> {
  const folder = await Deno.makeTempDir();
  const program = new Deno.Command("litmus", {
    args: ["-k", url, user, password],
    cwd: folder,
    stdin: "null",
  });
  const text = new TextDecoder().decode((await program.output()).stdout).replaceAll("\r", "\n");
  await Deno.remove(folder, { recursive: true });
  assert.ok((text.match(/\d+\. \w+[ .]+ pass$/gm)?.length ?? 0) > 70, text);
  assert.equal(text.match(/<- summary for/g)?.length, 5, text);
  return [...text.matchAll(/^ *\d+\. (\w+)[ .]+ (?:FAIL|SKIPPED)/gm)].map(([, name = ""]) => name);
}

/** Runs rclone; throws with its output if it fails. */
async function run(args: readonly string[], env = {}): Promise<string> {
  const program = new Deno.Command("rclone", { args: [...args], env, stdin: "null" });
  const { success, stdout, stderr } = await program.output();
  const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  if (!success) throw new Error(`rclone ${args.join(" ")}: ${said}`);
  return said;
}

/** Creates a tree of files, some in directories whose names need escapes. */
async function tree(folder: string, files: number): Promise<void> {
  for (let i = 0; i < files; i++) {
    const directory = `${folder}/${["plain", "with blanks", "ünï+%&#", "deep/er/down"][i % 4]}/${i % 10}`;
    await Deno.mkdir(directory, { recursive: true });
    await Deno.writeTextFile(`${directory}/file ${i}`, "x".repeat(i % 5000));
  }
}

/** Uploads a tree with rclone, compares it, and downloads it again; does not verify the certificate. */
export async function bothWays(
  url: string,
  [user, password]: readonly [string, string],
  folder: string,
  files: number,
): Promise<void> {
  await tree(`${folder}/here`, files);
  const obscured = (await run(["obscure", password])).trim();
  const rclone = (...args: readonly string[]) =>
    run(["--no-check-certificate", "--config", "", ...args], {
      RCLONE_WEBDAV_URL: url,
      RCLONE_WEBDAV_VENDOR: "other",
      RCLONE_WEBDAV_USER: user,
      RCLONE_WEBDAV_PASS: obscured,
    });
  await rclone("sync", `${folder}/here`, ":webdav:there");
  await rclone("check", "--download", `${folder}/here`, ":webdav:there");
  await Deno.remove(`${folder}/here/plain`, { recursive: true });
  await rclone("sync", `${folder}/here`, ":webdav:there");
  await rclone("sync", ":webdav:there", `${folder}/back`);
  const same = new Deno.Command("diff", { args: ["-r", `${folder}/here`, `${folder}/back`] });
  assert.equal(new TextDecoder().decode((await same.output()).stdout), "");
}
