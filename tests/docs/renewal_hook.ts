/** The manual's hook for ACME clients, and the certificate that the service shows. */
import assert from "node:assert/strict";
import { connect } from "node:tls";
import type { SystemUnderTest } from "../system/running_service.ts";
import { runFromSource } from "../system/service_process.ts";
import { piecesOf } from "./manual_page.ts";

const HOOK = "/etc/letsencrypt/renewal-hooks/deploy/authserver";

/**
 * Writes the manual's hook to `path`, for the folder of a test in place of those of the system.
 * @param lineage Folder of the certificate that the hook is for.
 * @returns The PATH with which the hook finds the service's executable.
 */
export async function writeHook(
  { folder }: SystemUnderTest,
  path: string,
  lineage: string,
): Promise<string> {
  const page = await Deno.readTextFile(new URL("../../docs/installation.md", import.meta.url));
  const piece = piecesOf(page).find((piece) => piece.kind === "file" && piece.path === HOOK);
  assert(piece?.kind === "file");
  const hook = piece.text.replaceAll("/etc/authserver", `${folder}/conf`).replaceAll("-g authserver ", "")
    .replace("/etc/letsencrypt/live/auth.example.org", lineage);
  await Deno.mkdir(`${folder}/bin`, { recursive: true });
  const words = [Deno.execPath(), ...runFromSource()].map((word) => `'${word}'`).join(" ");
  await Deno.writeTextFile(path, hook, { mode: 0o700 });
  await Deno.writeTextFile(`${folder}/bin/authserver`, `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o700 });
  return `${folder}/bin:${Deno.env.get("PATH")}`;
}

/** Returns the serial number of the certificate that the service shows, for a name of its own and its issuer. */
export function shownSerial(
  { port, authority }: SystemUnderTest,
  { name = "localhost", issuer = authority.certificate } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, servername: name, ca: issuer }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    }).on("error", reject);
  });
}
