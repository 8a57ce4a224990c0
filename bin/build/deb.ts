import { createHash } from "node:crypto";
import { dirname } from "node:path";
import type { PackageFile } from "./package_files.ts";
import { ROOT } from "./project.ts";
import { runTool } from "./run_tool.ts";

const SCRIPTS = ["postinst", "prerm", "postrm"];

/** What the package says of itself. */
export interface DebOptions {
  readonly output: string;
  readonly version: string;
  /** As Debian names it, such as `amd64`. */
  readonly architecture: string;
  readonly files: readonly PackageFile[];
  /** `none` for content that is compressed already. */
  readonly compression: "none" | "xz";
}

/**
 * Writes a Debian package with the tools of every Debian system. Files below `/etc` are conffiles: an update keeps what
 * the administrator changed (deb-conffiles(5)).
 * @throws {ToolFailed} If `dpkg-deb` refuses.
 */
export async function writeDeb(
  { output, version, architecture, files, compression }: DebOptions,
): Promise<void> {
  const root = await Deno.makeTempDir({ prefix: "authserver-deb-" });
  try {
    await Deno.chmod(root, 0o755);
    for (const { path, mode, content } of files) await write(`${root}${path}`, content, mode);
    const bytes = files.reduce((sum, { content }) => sum + content.length, 0);
    const control = {
      control: controlFile(version, architecture, Math.ceil(bytes / 1024)),
      conffiles: lines(files.filter(({ path }) => path.startsWith("/etc/")).map(({ path }) => path)),
      md5sums: lines(
        files.filter(({ path }) => !path.startsWith("/etc/")).map(({ path, content }) =>
          `${createHash("md5").update(content).digest("hex")}  ${path.slice(1)}`
        ),
      ),
    };
    for (const [name, text] of Object.entries(control)) await write(`${root}/DEBIAN/${name}`, text, 0o644);
    for (const name of SCRIPTS) {
      await write(
        `${root}/DEBIAN/${name}`,
        await Deno.readTextFile(`${ROOT}/bin/build/debian/${name}`),
        0o755,
      );
    }
    await Deno.mkdir(dirname(output), { recursive: true });
    await runTool("dpkg-deb", ["--root-owner-group", `-Z${compression}`, "--build", root, output]);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

async function write(path: string, content: Uint8Array | string, mode: number): Promise<void> {
  await Deno.mkdir(dirname(path), { recursive: true, mode: 0o755 });
  if (typeof content === "string") await Deno.writeTextFile(path, content);
  else await Deno.writeFile(path, content);
  await Deno.chmod(path, mode); // whatever the umask is
}

function lines(list: readonly string[]): string {
  return list.map((line) => `${line}\n`).join("");
}

function controlFile(version: string, architecture: string, kilobytes: number): string {
  return `Package: authserver
Version: ${version}
Architecture: ${architecture}
Maintainer: authserver <root@localhost>
Installed-Size: ${kilobytes}
Section: net
Priority: optional
Depends: libc6 (>= 2.27), libgcc-s1, systemd (>= 247)
Suggests: fail2ban, logrotate
Description: Auth service for UFTP file transfer
 Authenticates users over HTTPS, maps them to accounts with their limits, commands
 transfer daemons (UFTPD) to expect them, and tells where to connect with a one-time
 secret. Shares data between users on request.
`;
}
