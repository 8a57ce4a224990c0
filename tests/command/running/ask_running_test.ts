import assert from "node:assert/strict";
import { askService, operator } from "../../../src/command/running/ask_running.ts";

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

Deno.test("askService() reports a closed connection as such, and only a silent service as late", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/control.sock`;
  using listener = Deno.listen({ transport: "unix", path });
  const ask = (withinMs: number) => askService([path], { command: "reload" }, withinMs);
  const expected = async (asked: Promise<unknown>, message: RegExp, pauseMs: number) => {
    const refused = assert.rejects(asked, message);
    const connection = await listener.accept();
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    connection.close(); // without reading, as a service with too many callers does
    await refused;
  };
  try {
    await expected(ask(40_000), /^Error: The service gave no answer: Connection reset by peer/, 100);
    await expected(ask(50), /^Error: The service gave no answer: no answer within 0\.05 s/, 500);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
