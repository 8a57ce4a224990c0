/** Audit stream at a log server, from the first line to the last. */
import assert from "node:assert/strict";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { until } from "../fixtures/deadline.ts";
import { startLogServer } from "../fixtures/log_server.ts";
import { createAuthority } from "../pki/authority.ts";
import { ALICE, runService, settled } from "./running_service.ts";

Deno.test("the service sends its audit lines to a log server, reconnects after an outage, and meanwhile refuses requests if audit is required", async () => {
  const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
  const server = await startLogServer(authority);
  const { port } = server;
  let stop: () => PromiseLike<unknown>;
  {
    await using system = await runService({
      authority,
      properties: {
        "container.audit.syslog": `tls://localhost:${port}`,
        "container.audit.required": "true",
        "container.logging.maxSize": "400",
        "container.logging.maxFiles": "3",
      },
    });
    await settled(system);
    const session = () => system.ask("/rest/auth/HPC", { as: ALICE, body: { serverPath: "" } });
    assert.equal((await session()).status, 200);
    await server.has('"event":"start"');
    await server.has('"event":"session","decision":"granted"');
    const status = async () => {
      const io = recordedIo();
      await runCommand(["status", "--config", system.main], io);
      return io.out;
    };
    await server[Symbol.asyncDispose]();
    await until(async () => (await session()).status === 503, { what: "refused without a log server" });
    await until(async () =>
      /audit cannot be written, requests that need it get 503: tls:\/\/localhost:/.test(await status())
    );
    const again = await startLogServer(authority, { port });
    stop = () => again[Symbol.asyncDispose]();
    await until(async () => (await session()).status === 200, { everyMs: 100, what: "served again" });
    system.service.stop();
    await system.service.stopped;
    await again.has('"event":"stop"');
    const names = [...Deno.readDirSync(`${system.folder}/logs`)].map(({ name }) => name);
    assert.deepEqual(names.filter((name) => /^a/.test(name)).sort(), [
      "authserver.log",
      "authserver.log.1",
      "authserver.log.2",
      "authserver.log.3",
    ]);
  }
  await stop();
});
