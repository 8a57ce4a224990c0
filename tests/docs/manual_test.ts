import assert from "node:assert/strict";
import { dirname, join, relative } from "node:path";
import { inspectDataFiles } from "../../src/command/diagnosis/inspect.ts";
import { formatDiagnostic } from "../../src/model/diagnostic.ts";
import { loadSnapshot } from "../../src/service/assembly/load_snapshot.ts";
import { createAuthority } from "../pki/authority.ts";
import { anchorsOf, isAsPrinted, linksOf, piecesOf } from "./manual_page.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Prefixes of keys that a page replaces as a whole if it sets one of them. */
const CLUSTER = [
  "authservice.",
  "container.security.rest.authentication.",
  "container.security.attributes.",
  "container.security.credential.",
  "share.",
];

const BASE: Readonly<Record<string, string>> = {
  "container.host": "localhost",
  "container.port": "9000",
  "container.security.credential.path": "conf/auth-cert.pem",
  "container.security.credential.keyPath": "conf/auth-key.pem",
  "container.security.truststore.type": "directory",
  "container.security.truststore.directoryLocations.1": "conf/trusted/*.pem",
  "authservice.servers": "HPC",
  "authservice.server.HPC.host": "daemon.example.org",
  "authservice.server.HPC.port": "64434",
  "authservice.server.HPC.commandHost": "127.0.0.1",
  "authservice.server.HPC.commandPort": "64435",
  "container.security.rest.authentication.order": "SSHKEY",
};

async function pages(): Promise<string[]> {
  const found: string[] = [];
  for (const folder of ["", "docs/", "docs/protocol/"]) {
    for await (const { name } of Deno.readDir(ROOT + folder)) {
      if (name.endsWith(".md")) found.push(folder + name);
    }
  }
  return found.sort();
}

/** Creates a folder like that of the manual's reader: certificates, and the program on the search path. */
async function workshop() {
  const folder = await Deno.makeTempDir({ prefix: "authserver-manual-" });
  const authority = createAuthority({ subject: "CN=Example CA,O=Example" });
  const own = authority.issue({ subject: "CN=auth.example.org,O=Example", names: ["auth.example.org"] });
  await Deno.mkdir(`${folder}/conf/trusted`, { recursive: true });
  await Deno.mkdir(`${folder}/data`);
  await Deno.mkdir(`${folder}/.bin`);
  const files: Record<string, string> = {
    "conf/auth-cert.pem": own.certificate,
    "conf/auth-key.pem": own.key,
    "conf/trusted/ca.pem": authority.certificate,
    "conf/gateway.pem": authority.certificate,
    "conf/other-service.pem": authority.certificate,
    "conf/idp-signing.pem": authority.certificate,
    "conf/ldap-password": "a secret\n",
    ".credentials/database-password": "from systemd, and long enough as a secret\n",
    ".bin/authserver": `#!/bin/sh\nexec "${Deno.execPath()}" run -A -q "${ROOT}main.ts" "$@"\n`,
  };
  for (const [path, text] of Object.entries(files)) await write(folder, path, text);
  return { folder, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
}

async function write(folder: string, path: string, text: string): Promise<void> {
  await Deno.mkdir(dirname(join(folder, path)), { recursive: true });
  await Deno.writeTextFile(join(folder, path), text, { mode: path.startsWith(".bin") ? 0o755 : 0o600 });
}

/** Returns the base settings, with these lines in place of the keys and prefixes that they set. */
function withSettings(text: string): string {
  const taken = CLUSTER.filter((prefix) => new RegExp(`^${prefix.replaceAll(".", "\\.")}`, "m").test(text));
  const keys = [...text.matchAll(/^([\w.-]+)=/gm)].map(([, key = ""]) => key);
  const base = Object.entries(BASE).filter(([key]) =>
    !keys.includes(key) && !taken.some((prefix) => key.startsWith(prefix))
  );
  return `${base.map(([key, value]) => `${key}=${value}\n`).join("")}${text}`;
}

async function diagnosticsOf(folder: string, main: string): Promise<string[]> {
  const { config, diagnostics } = await loadSnapshot(main, {
    workingDirectory: folder,
    environment: (name) =>
      name === "CREDENTIALS_DIRECTORY"
        ? `${folder}/.credentials`
        : name.startsWith("AUTH_")
        ? "from the environment, and long enough"
        : undefined,
  });
  const inData = config === undefined ? [] : await inspectDataFiles(config);
  return [...diagnostics, ...inData].map(formatDiagnostic);
}

for (const path of await pages()) {
  const page = await Deno.readTextFile(ROOT + path);
  const pieces = piecesOf(page);

  if (pieces.length > 0) {
    Deno.test(`files and commands of ${path} work as described`, async () => {
      await using at = await workshop();
      const { folder } = at;
      for (const piece of pieces) {
        const place = `${path}:${piece.line}`;
        if (piece.kind === "file") {
          await write(folder, piece.path, piece.text);
        } else if (piece.kind === "settings") {
          await write(folder, "try.properties", withSettings(piece.text));
          assert.deepEqual(await diagnosticsOf(folder, "try.properties"), [], place);
        } else {
          for (const { command, output } of piece.commands) {
            const { code, stdout, stderr } = await new Deno.Command("/bin/sh", {
              args: ["-c", command],
              cwd: folder,
              env: { PATH: `${folder}/.bin:${Deno.env.get("PATH")}`, LC_ALL: "C.UTF-8" },
            }).output();
            const printed = new TextDecoder().decode(stdout) +
              new TextDecoder().decode(stderr).replace(/^note: the service runs as root, .*\n/m, "");
            assert.equal(code, 0, `${place}: ${command}\n${printed}`);
            if (output !== "") {
              assert(
                isAsPrinted(printed, output),
                `${place}: ${command}\nprinted\n${printed}\nexpected\n${output}`,
              );
            }
          }
        }
      }
    });
  }

  Deno.test(`links of ${path} have targets`, async () => {
    for (const { path: target, anchor } of linksOf(page)) {
      const file = target === "" ? ROOT + path : join(ROOT, dirname(path), target);
      const text = await Deno.readTextFile(file).catch(async () =>
        (await Deno.stat(file)).isDirectory ? "" : undefined
      );
      const place = `${path} -> ${relative(ROOT, file)}`;
      assert.notEqual(text, undefined, place);
      if (anchor !== undefined) assert(anchorsOf(text ?? "").has(anchor), `${place}#${anchor}`);
    }
  });
}
