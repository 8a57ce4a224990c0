/** The hook of the manual for ACME clients, with a certificate that was renewed. */
import assert from "node:assert/strict";
import { connect } from "node:tls";
import { runFromSource } from "../system/service_process.ts";
import { runService, type SystemUnderTest } from "../system/running_service.ts";
import { piecesOf } from "./manual_page.ts";

const HOOK = "/etc/letsencrypt/renewal-hooks/deploy/authserver";

/** The hook, for the folder of a test in place of those of the system. */
async function hookFor(folder: string): Promise<string> {
  const page = await Deno.readTextFile(new URL("../../docs/installation.md", import.meta.url));
  const piece = piecesOf(page).find((piece) => piece.kind === "file" && piece.path === HOOK);
  assert(piece?.kind === "file");
  return piece.text.replaceAll("/etc/authserver", `${folder}/conf`).replaceAll("-g authserver ", "");
}

async function runHook(system: SystemUnderTest, credential: { certificate: string; key: string }) {
  const { folder } = system;
  const lineage = `${folder}/live/auth.example.org`;
  await Deno.mkdir(lineage, { recursive: true });
  await Deno.mkdir(`${folder}/bin`, { recursive: true });
  const words = [Deno.execPath(), ...runFromSource()].map((word) => `'${word}'`).join(" ");
  const files = {
    [`${lineage}/privkey.pem`]: credential.key,
    [`${lineage}/fullchain.pem`]: credential.certificate,
    [`${folder}/bin/authserver`]: `#!/bin/sh\nexec ${words} "$@"\n`,
    [`${folder}/hook`]: await hookFor(folder),
  };
  for (const [path, text] of Object.entries(files)) await Deno.writeTextFile(path, text, { mode: 0o700 });
  const { code, stdout, stderr } = await new Deno.Command(`${folder}/hook`, {
    env: { RENEWED_LINEAGE: lineage, PATH: `${folder}/bin:${Deno.env.get("PATH")}` },
  }).output();
  return { code, said: [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("") };
}

/** Serial number of the certificate that the service shows. */
function shown({ port, authority }: SystemUnderTest): Promise<string> {
  return new Promise((resolve, reject) => {
    const to = { host: "127.0.0.1", port, servername: "localhost", ca: authority.certificate };
    const socket = connect(to, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    }).on("error", reject);
  });
}

Deno.test("the manual's hook for ACME clients brings a renewed certificate into use, and fails with an unusable one", async () => {
  await using system = await runService();
  const first = await shown(system);
  const names = { subject: "CN=AUTH,O=Demo,C=EU", names: ["localhost", "127.0.0.1"] };
  const renewed = system.authority.issue(names);
  const { code, said } = await runHook(system, renewed);
  assert.equal(code, 0, said);
  const second = await shown(system);
  assert.notEqual(second, first);
  const key = `${system.folder}/conf/auth-key.pem`;
  assert.equal(((await Deno.stat(key)).mode ?? 0) & 0o777, 0o640);
  const foreign = await runHook(system, {
    ...renewed,
    certificate: system.authority.issue(names).certificate,
  });
  assert.notEqual(foreign.code, 0, foreign.said);
  assert.equal(await shown(system), second);
});
