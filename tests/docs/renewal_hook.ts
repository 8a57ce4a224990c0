/** Installs the manual's hook for ACME clients, and reads the certificate of the service. */
import assert from "node:assert/strict";
import { connect } from "node:tls";
import type { SystemUnderTest } from "../system/running_service.ts";
import { runFromSource } from "../system/service_process.ts";
import { piecesOf } from "./manual_page.ts";

const HOOK = "/etc/letsencrypt/renewal-hooks/deploy/authserver";

/**
 * Writes the manual's hook to `path`, with the folder of a test in place of the system's folders.
 * @param lineage Folder of the certificate that the hook is for.
 * @returns The PATH on which the hook finds the service's executable.
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

/** Returns the serial number of the service's certificate for one of its names, verified by its issuer. */
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
