import assert from "node:assert/strict";
import { createAuthority } from "../pki/authority.ts";
import { ask } from "../system/ask.ts";
import { ChildProcess } from "./child_process.ts";

Deno.test("the yardstick for starts answers from its worker", async () => {
  const authority = createAuthority({ subject: "CN=Demo CA" });
  const { certificate, key } = authority.issue({ subject: "CN=bare", names: ["localhost"] });
  const folder = await Deno.makeTempDir();
  try {
    const [certificateFile, keyFile] = [`${folder}/certificate.pem`, `${folder}/key.pem`];
    await Deno.writeTextFile(certificateFile, certificate);
    await Deno.writeTextFile(keyFile, key);
    const script = new URL("bare_worker_server.ts", import.meta.url);
    const args = [certificateFile, keyFile, "0"];
    const { process, said } = await ChildProcess.start(script, args, /^listening on (\d+)$/m, [
      "--no-config",
    ]);
    await using _stopped = process;
    assert.equal((await ask(`https://localhost:${said}/`, authority.certificate)).status, 200);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
