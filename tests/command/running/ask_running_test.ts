import assert from "node:assert/strict";
import { operator } from "../../../src/command/running/ask_running.ts";

Deno.test("operator() returns the user of sudo, else the account, even without environment variables", async () => {
  const passwd = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(passwd, "root:x:0:0::/root:/bin/sh\nolga:x:1007:100::/:/bin/sh\n");
    const name = (environment: Record<string, string>, uid: number) =>
      operator((variable) => environment[variable], () => uid, passwd);
    assert.equal(await name({ SUDO_USER: "ann", LOGNAME: "root" }, 0), "ann");
    assert.equal(await name({ LOGNAME: "backup" }, 0), "backup");
    assert.equal(await name({}, 1007), "olga");
    assert.equal(await name({}, 1008), "uid 1008");
  } finally {
    await Deno.remove(passwd);
  }
});
