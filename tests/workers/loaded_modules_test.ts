import assert from "node:assert/strict";
import { ALICE, createSite } from "../system/running_service.ts";
import { CHECKOUT } from "../system/service_process.ts";

/** Paths of `src/` that a service with a password file, a map file and one server does not need. */
const NEEDLESS = [
  /^(?:pages|sharing|instances|resource\/(?:share|access)|service\/explanation)\//,
  /^(?:daemon\/session|store\/postgres\/postgres_|throttling\/shared)/,
  /^command\/(?:files|running|manual|completion)\//,
  /^outgoing\/(?:https_client|agents|connect_tls|open_tls|tls_stream|probe_certificate|name_service)\.ts/,
  /^authentication\/(?:expression|unity|oauth|ssh_key)\//,
  /^service\/http\/(?:openapi|share_routes)\./,
  /^resource\/(?:token_list|open_session|ssh_certificate|device_login|admin\/administration)\.ts/,
  /^reservations\/reservation_(?:file|registry|times)\.ts/,
];

/** Packages that this service does not need. */
const NEEDLESS_PACKAGES = /\/(?:jose|postgres|ssh2|xml-crypto|xmldom|uqr)\b/;

/** Kilobytes of source that each thread may evaluate before the first answer. */
const BUDGETS: readonly (readonly [thread: string, entries: readonly string[], kilobytes: number])[] = [
  ["supervisor", ["main.ts", "src/command/serving/serve.ts"], 545],
  ["edge", ["src/workers/edge_worker.ts"], 210],
  ["core", ["src/workers/core_worker.ts"], 650],
];

interface Module {
  readonly specifier: string;
  readonly size?: number;
  readonly dependencies?: readonly {
    readonly isDynamic?: boolean;
    readonly code?: { readonly specifier?: string };
  }[];
}

/** Returns the modules of the project that an entry imports statically, with their bytes. */
async function importedBy(entry: string): Promise<Map<string, number>> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", `${CHECKOUT}${entry}`],
    cwd: CHECKOUT,
  }).output();
  const { modules, roots }: { modules: Module[]; roots: string[] } = JSON.parse(
    new TextDecoder().decode(stdout),
  );
  const known = new Map(modules.map((module) => [module.specifier, module]));
  const found = new Map<string, number>();
  for (const open = [...roots]; open.length > 0;) {
    const specifier = open.pop() ?? "";
    const path = pathOf(specifier);
    if (path === undefined || found.has(path)) continue;
    const { size = 0, dependencies = [] } = known.get(specifier) ?? {};
    found.set(path, size);
    for (const { isDynamic, code } of dependencies) {
      if (isDynamic !== true && code?.specifier !== undefined) open.push(code.specifier);
    }
  }
  return found;
}

function isNeedless(path: string): boolean {
  return path.startsWith("src/") && NEEDLESS.some((form) => form.test(path.slice("src/".length)));
}

/** Returns the path of a module within the project; undefined for others. */
function pathOf(specifier: string): string | undefined {
  const root = `file://${CHECKOUT}`;
  return specifier.startsWith(root) ? specifier.slice(root.length) : undefined;
}

for (const [thread, entries, kilobytes] of BUDGETS) {
  Deno.test(`the ${thread} imports at most ${kilobytes} KB before the first answer, and no unconfigured feature`, async () => {
    const all = new Map<string, number>();
    for (const entry of entries) for (const [path, size] of await importedBy(entry)) all.set(path, size);
    assert(all.size > 20, "found no imports");
    assert.deepEqual([...all.keys()].filter(isNeedless), []);
    const used = Math.ceil(all.values().reduce((sum, size) => sum + size, 0) / 1024);
    assert(used <= kilobytes, `${used} KB`);
  });
}

Deno.test("a service has evaluated no modules of unconfigured features after a password login", async () => {
  await using site = await createSite();
  const coverage = `${site.folder}/coverage`;
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--quiet", "--no-check", "--allow-all", `--coverage=${coverage}`],
      ...[`--config=${CHECKOUT}deno.json`, `${CHECKOUT}tests/workers/first_login.ts`],
      ...[site.main, `Basic ${btoa(ALICE.join(":"))}`],
    ],
  }).output();
  const decoder = new TextDecoder();
  assert.equal(decoder.decode(stdout).trim(), "200", decoder.decode(stderr));

  const evaluated = await evaluatedModules(coverage);
  const paths = evaluated.flatMap((url) => pathOf(url) ?? []);
  assert(paths.includes("src/service/service.ts"), "found no evaluated modules");
  assert.deepEqual(paths.filter(isNeedless), []);
  assert.deepEqual(evaluated.filter((url) => pathOf(url) === undefined && NEEDLESS_PACKAGES.test(url)), []);
});

/** Returns the addresses of all modules that a program evaluated. */
async function evaluatedModules(folder: string): Promise<string[]> {
  const urls: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    const { url }: { url: string } = JSON.parse(await Deno.readTextFile(`${folder}/${name}`));
    urls.push(url);
  }
  return urls;
}
