import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { SLAPD } from "./fixtures/slapd_programs.ts";
import { POSTGRES } from "./fixtures/postgres_programs.ts";

/** Requirement of tests that a machine may lack. */
interface Requirement {
  /** Pattern in the name or the source of a test that needs it. */
  readonly sign: RegExp;
  readonly missing: boolean;
  /** Reason why tests are skipped without it, and the remedy. */
  readonly why: string;
}

const program = async (name: string, debian = name, sign = new RegExp(`\\b${name}\\b`, "i")) => ({
  sign,
  missing: !await isInstalled(name),
  why: `${name} is not installed (Debian: apt-get install ${debian})`,
});

async function requirements(): Promise<readonly Requirement[]> {
  return [
    {
      sign: /POSTGRES\b|postgres/,
      missing: POSTGRES === undefined,
      why: "PostgreSQL is not installed (Debian: apt-get install postgresql)",
    },
    {
      sign: /\bBROWSER\b|browser|chromium/,
      missing: !await isInstalled("chromium") && !await isInstalled("google-chrome"),
      why: "Chromium is not installed (Debian: apt-get install chromium)",
    },
    {
      sign: /\bFAKETIME\b/,
      missing: !await isInstalled("faketime"),
      why: "libfaketime is not installed (Debian: apt-get install faketime)",
    },
    {
      sign: /SLAPD\b|slapd/,
      missing: SLAPD === undefined,
      why: "OpenLDAP is not installed (Debian: apt-get install slapd ldap-utils)",
    },
    await program("haproxy"),
    await program("curl"),
    await program("litmus"),
    await program("rclone"),
    await program("unzip"),
    await program("python3", "python3", /\bPYTHON\b/),
    await program("fish", "fish", /\bfish\b/),
    await program("zsh", "zsh", /\bzsh\b/),
    await program("mandoc"),
    await program("groff"),
    await program("promtool", "prometheus"),
    await program("rpmbuild", "rpm"),
    await program("dpkg-deb", "dpkg"),
    { sign: /uid\(\) !== 0|isRoot/, missing: Deno.uid() !== 0, why: "needs root" },
    { sign: /uid\(\) === 0/, missing: Deno.uid() === 0, why: "root may do everything: run as another user" },
    { sign: /\bLONG\b|takes? no more than/, missing: true, why: "takes long: deno task test:long" },
    { sign: /build\.os/, missing: Deno.build.os !== "linux", why: "needs Linux" },
  ];
}

async function isInstalled(name: string): Promise<boolean> {
  return (await new Deno.Command("which", { args: [name], stdout: "null", stderr: "null" }).output()).success;
}

/** Returns the closing lines about skipped tests: for each reason the number of tests, and the tests. */
export async function skippedLines(
  skipped: readonly string[],
  all?: readonly Requirement[],
): Promise<readonly string[]> {
  if (skipped.length === 0) return [];
  const missing = (all ?? await requirements()).filter((requirement) => requirement.missing);
  const reasons = new Map<string, string[]>();
  for (const line of skipped) {
    const [reported = "", name = ""] = line.replace(/ \.\.\. ignored.*$/, "").replace(/^\.\//, "").split(
      " => ",
    );
    const { file, source } = await placeOf(reported, name);
    const why = reasonOf(name, source, missing);
    reasons.set(why, [...reasons.get(why) ?? [], `${file} => ${name}`]);
  }
  return [...reasons].flatMap(([why, tests]) => [
    `skipped: ${tests.length}, ${why}`,
    ...tests.map((test) => `  ${test}`),
  ]);
}

/** Returns the reason for a skipped test, by its name, or else by its file. */
function reasonOf(name: string, source: string, missing: readonly Requirement[]): string {
  const named = missing.filter(({ sign }) => sign.test(name));
  if (named[0] !== undefined) return named[0].why;
  const ignoring = source.split("\n").filter((text) => /ignore|const [A-Z_]+ =|import/.test(text)).join("\n");
  const found = missing.filter(({ sign }) => sign.test(ignoring)).map(({ why }) => why);
  return found.length === 0 ? "see the test's file for what it needs" : found.join("; ");
}

/**
 * Returns the file of a test and its text; of a module that imports files, the file with the test, or all.
 */
async function placeOf(
  file: string,
  name: string,
): Promise<{ readonly file: string; readonly source: string }> {
  const source = await Deno.readTextFile(file).catch(() => "");
  const imported = [...source.matchAll(/^import "(file:[^"]+_test\.ts)";$/gm)].map(([, url = ""]) => url);
  if (imported.length === 0) return { file, source };
  const all = await Promise.all(imported.map(async (url) => ({
    file: relative(Deno.cwd(), fileURLToPath(url)),
    source: await Deno.readTextFile(new URL(url)),
  })));
  const only = all.length === 1 ? all[0] : all.find(({ source }) => source.includes(name));
  return only ?? { file, source: all.map(({ source }) => source).join("\n") };
}
