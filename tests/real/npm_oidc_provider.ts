import { hasProgram, lacking, run } from "./lacking.ts";
import type { Authority } from "../pki/authority.ts";

const VERSION = "9.13.3";

/**
 * Installs the package `oidc-provider` in a folder, with a script that starts a provider. Tests remove the
 * folder at their end.
 * @param part Name of the tests that need it, for the message if it cannot be installed.
 * @param script File in the folder of this module.
 * @returns Path of the folder; `undefined` if the package cannot be installed.
 */
export async function installOidcProvider(part: string, script: string): Promise<string | undefined> {
  if (!await hasProgram("npm")) {
    lacking(part, "install Node.js with npm");
    return undefined;
  }
  const folder = await Deno.makeTempDir({ prefix: "authserver-oidc-" });
  Deno.test.afterAll(() => Deno.remove(folder, { recursive: true }));
  try {
    const options = ["--no-audit", "--no-fund", "--no-save", "--prefix", folder];
    await run("npm", ["install", ...options, `oidc-provider@${VERSION}`], { cwd: folder });
  } catch (error) {
    lacking(part, `npm does not install it (${String(error).split("\n")[0]})`);
    return undefined;
  }
  await Deno.copyFile(new URL(script, import.meta.url), `${folder}/${script}`);
  return folder;
}

/** Writes a provider's certificate and key for TLS, `cert.pem` and `key.pem`. */
export async function writeCertificate(folder: string, authority: Authority): Promise<void> {
  const own = authority.issue({ subject: "CN=localhost", names: ["localhost", "127.0.0.1"] });
  await Deno.writeTextFile(`${folder}/cert.pem`, own.certificate);
  await Deno.writeTextFile(`${folder}/key.pem`, own.key);
}

/** Running provider. */
export interface RunningProvider {
  /** Facts that its script printed in one line of JSON. */
  readonly said: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Starts the script of a folder, and waits for its line of JSON. */
export async function startOidcScript(
  folder: string,
  script: string,
  args: readonly string[],
): Promise<RunningProvider> {
  const process = new Deno.Command("node", {
    args: [`${folder}/${script}`, folder, ...args],
    cwd: folder,
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let printed = "";
  // Node.js may print warnings before the line.
  while (!/^\{.*\n/m.test(printed)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the provider ended: ${printed}`);
    printed += value;
  }
  return {
    said: JSON.parse(/^\{.*/m.exec(printed)?.[0] ?? "{}"),
    async stop() {
      try {
        process.kill("SIGKILL");
      } catch {
        return; // the process has ended
      }
      await reader.cancel();
      await process.status;
    },
  };
}
