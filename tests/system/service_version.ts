/** Other versions of the service, to run together with that of the checkout. */
import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { readProject } from "../../bin/build/project.ts";
import { CHECKOUT, runAuthserver, runFromSource } from "./service_process.ts";

/** One version of the program. */
export interface ServiceVersion {
  /** Name in tests. */
  readonly name: string;
  /** Version of the tables that the program creates. */
  readonly tables: number;
  readonly run: typeof runAuthserver;
}

/** Version in a temporary folder. */
export interface OtherVersion extends ServiceVersion, AsyncDisposable {}

const SCHEMA = "src/store/postgres/postgres_schema.ts";
/** Parts of the program. */
const PARTS = ["bin", "deno.json", "deno.lock", "main.ts", "src"];

/** Returns the version of the checkout. */
export async function thisVersion(): Promise<ServiceVersion> {
  return { name: "this version", tables: stepsIn(await schema()), run: runAuthserver };
}

/**
 * Returns the last version in the history whose tables are older than those of the checkout; if the
 * checkout's tables are not committed yet, that is the current commit.
 * @returns `undefined` if there is no such history here.
 */
export async function versionBefore(): Promise<OtherVersion | undefined> {
  const now = stepsIn(await schema());
  const commits = (await git(["log", "--first-parent", "--format=%H", "--", SCHEMA]))?.trim().split("\n") ??
    [];
  let raised: string | undefined;
  for (const commit of commits) {
    const steps = stepsIn(await git(["show", `${commit}:${SCHEMA}`]) ?? "");
    if (steps > 0 && steps < now) return await unpacked(raised === undefined ? "HEAD" : `${raised}^`, steps);
    raised = commit;
  }
}

/** Creates a version after that of the checkout: one more schema step adds to the existing tables. */
export async function versionAfter(): Promise<OtherVersion> {
  const root = `${await Deno.makeTempDir({ prefix: "authserver-next-" })}/`;
  const copied = await new Deno.Command("cp", { args: ["-r", ...PARTS.map((part) => CHECKOUT + part), root] })
    .output();
  assert.ok(copied.success, new TextDecoder().decode(copied.stderr));
  const text = await schema();
  const steps = stepsIn(text);
  const step = `}, {
  worksWith: ${steps},
  sql: \`ALTER TABLE share ADD COLUMN of_next_version text;
   ALTER TABLE record ADD COLUMN of_next_version bigint NOT NULL DEFAULT 0;
   CREATE TABLE of_next_version (key text PRIMARY KEY);\`,
}];`;
  const changed = text.replace(/^\}\];$/m, () => step);
  assert.equal(stepsIn(changed), steps + 1, `${SCHEMA} has not the form that a step can be added to`);
  await Deno.writeTextFile(root + SCHEMA, changed);
  const project = JSON.parse(await Deno.readTextFile(`${root}deno.json`));
  await Deno.writeTextFile(
    `${root}deno.json`,
    JSON.stringify({ ...project, version: `${project.version}-next` }),
  );
  return await at(root, "the next version", steps + 1);
}

/**
 * Returns the version of a commit. The first test on a machine unpacks it, and the others use the same folder,
 * for which Deno has already compiled the modules.
 */
async function unpacked(commit: string, tables: number): Promise<OtherVersion | undefined> {
  const id = (await git(["rev-parse", "--verify", `${commit}^{commit}`]))?.trim();
  if (id === undefined) return undefined; // the history does not go back that far
  const place = `${tmpdir()}/authserver-before-${Deno.uid()}-${id}`;
  const exists = () => Deno.lstat(place).then((found) => found.uid === Deno.uid(), () => false);
  if (!await exists()) {
    const scratch = await Deno.makeTempDir({ prefix: "authserver-before-" });
    const tar = `${scratch}.tar`;
    if (await git(["archive", `--output=${tar}`, id, ...PARTS]) === undefined) {
      await Deno.remove(scratch, { recursive: true });
      return undefined;
    }
    const { success, stderr } = await new Deno.Command("tar", { args: ["-xf", tar, "-C", scratch] }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
    await Deno.remove(tar);
    await Deno.rename(scratch, place).catch(async (error) => {
      await Deno.remove(scratch, { recursive: true });
      if (!await exists()) throw error; // else another process was first
    });
  }
  const version = await at(`${place}/`, `the version before (${commit.slice(0, 10)})`, tables);
  return { ...version, [Symbol.asyncDispose]: () => Promise.resolve() };
}

async function at(root: string, name: string, tables: number): Promise<OtherVersion> {
  const { programFlags } = await readProject(root);
  const program = runFromSource(root, programFlags);
  return {
    name,
    tables,
    run: (args, options) => runAuthserver(args, { ...options, program }),
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

function schema(): Promise<string> {
  return Deno.readTextFile(CHECKOUT + SCHEMA);
}

/** Returns the number of schema steps in the source, without the entry for no tables (`worksWith: 0`). */
function stepsIn(text: string): number {
  return text.match(/^ {2}worksWith: [1-9]\d*,$/gm)?.length ?? 0;
}

/** Returns the output of git in the checkout; `undefined` if git fails or is missing. */
async function git(args: readonly string[]): Promise<string | undefined> {
  try {
    const { success, stdout } = await new Deno.Command("git", {
      args: [...args],
      cwd: CHECKOUT,
      stderr: "null",
    })
      .output();
    return success ? new TextDecoder().decode(stdout) : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
