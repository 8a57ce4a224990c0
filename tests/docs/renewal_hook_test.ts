/** Tests the manual's hook for ACME clients with a renewed certificate. */
import assert from "node:assert/strict";
import { runService, type SystemUnderTest } from "../system/running_service.ts";
import { shownSerial, writeHook } from "./renewal_hook.ts";

async function runHook(
  system: SystemUnderTest,
  credential: { certificate: string; key: string },
  name = "auth.example.org",
) {
  const { folder } = system;
  const lineage = `${folder}/live/${name}`;
  await Deno.mkdir(lineage, { recursive: true });
  await Deno.writeTextFile(`${lineage}/privkey.pem`, credential.key);
  await Deno.writeTextFile(`${lineage}/fullchain.pem`, credential.certificate);
  const { code, stdout, stderr } = await new Deno.Command(`${folder}/hook`, {
    env: {
      RENEWED_LINEAGE: lineage,
      PATH: await writeHook(system, `${folder}/hook`, `${folder}/live/auth.example.org`),
    },
  }).output();
  return { code, said: [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("") };
}

Deno.test("the manual's hook for ACME clients activates a renewed certificate, and fails with an unusable one", async () => {
  await using system = await runService();
  const first = await shownSerial(system);
  const names = { subject: "CN=AUTH,O=Demo,C=EU", names: ["localhost", "127.0.0.1"] };
  const renewed = system.authority.issue(names);
  const { code, said } = await runHook(system, renewed);
  assert.equal(code, 0, said);
  const second = await shownSerial(system);
  assert.notEqual(second, first);
  const key = `${system.folder}/conf/auth-key.pem`;
  assert.equal(((await Deno.stat(key)).mode ?? 0) & 0o777, 0o640);
  const other = await runHook(system, system.authority.issue(names), "www.example.org");
  assert.equal(other.code, 0, other.said);
  assert.equal(await shownSerial(system), second, "renewals of other certificates change nothing");
  const foreign = await runHook(system, {
    ...renewed,
    certificate: system.authority.issue(names).certificate,
  });
  assert.notEqual(foreign.code, 0, foreign.said);
  assert.equal(await shownSerial(system), second);
});
