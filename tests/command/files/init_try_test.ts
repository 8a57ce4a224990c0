import assert from "node:assert/strict";
import { request } from "node:https";
import { X509Certificate } from "node:crypto";
import { createTrialCertificates } from "../../../src/command/files/trial/trial_site.ts";
import { documented } from "../../../bin/docs/documented_command.ts";
import { runCommand } from "../../../src/command/run_command.ts";
import { init } from "../../../src/command/files/init.ts";
import { serve } from "../../../src/command/serving/serve.ts";
import { jsonDifferences } from "../../build/json_differences.ts";
import { runAuthserver } from "../../system/service_process.ts";
import { certificateFacts, permits } from "../../../src/model/trust/certificate_facts.ts";
import { findPath } from "../../../src/model/trust/certificate_path.ts";
import { recordedIo } from "../recorded_io.ts";

async function folder() {
  const path = await Deno.makeTempDir({ prefix: "authserver-try-" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

/** Sends curl's request with the options that the command printed. */
function ask(port: number, ca: string, auth: string): Promise<{ status?: number; body: string }> {
  return new Promise((resolve, reject) => {
    request({ host: "localhost", port, path: "/rest/auth", ca, auth }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (part: string) => body += part)
        .on("end", () => resolve({ status: response.statusCode, body }));
    }).on("error", reject).end();
  });
}

Deno.test("init --try creates a working service with a user in an empty folder", async () => {
  await using at = await folder();
  const service = runAuthserver(["init", "--try", "--port", "0", "--directory", "site"], { cwd: at.path });
  const [, file = "", auth = ""] = await service.prints(/curl --cacert (\S+) -u (\S+) https:/);
  const [, port] = await service.prints(/service started .*port=(\d+)/);
  const { status, body } = await ask(Number(port), await Deno.readTextFile(file), auth);
  assert.equal(status, 200, body);
  const { client, TEST } = JSON.parse(body);
  assert.equal(client.dn, "CN=Demo User,O=authserver trial");
  assert.equal(TEST.uid, "demo");
  const [user = ""] = auth.split(":");
  assert.equal((await ask(Number(port), await Deno.readTextFile(file), `${user}:wrong`)).status, 401);
  service.kill("SIGTERM");
  assert.equal(await service.ended, 0, service.printed);

  const users = await Deno.readTextFile(`${at.path}/site/conf/users.txt`);
  assert(!users.includes(auth.slice(user.length + 1)), "the password itself is in no file");
  assert.equal(((await Deno.stat(`${at.path}/site/conf/auth-key.pem`)).mode ?? 0) & 0o777, 0o600);

  const again = recordedIo();
  assert.equal(await init.run(["--try", "--directory", `${at.path}/site`], again), 1);
  assert.match(again.err, /container\.properties exists already, expected a folder without/);
  assert.equal(await Deno.readTextFile(`${at.path}/site/conf/users.txt`), users);

  // Commands in this process run in another folder.
  const main = `${at.path}/site/conf/absolute.properties`;
  const written = await Deno.readTextFile(`${at.path}/site/conf/container.properties`);
  const absolute = written.replaceAll(/([=:\s])((?:conf|data|logs)\/)/g, `$1${at.path}/site/$2`);
  await Deno.writeTextFile(main, absolute, { mode: 0o600 });
  const checked = recordedIo();
  assert.equal(await runCommand(["check", "--config", main], checked), 0, checked.out + checked.err);
  assert.match(checked.out, /valid: 0 errors, 0 warnings/);
  // The SSH key method is first, and any name could have keys; but the password file lists this name.
  const explained = recordedIo();
  assert.equal(await runCommand(["whoami-test", "--config", main, "demo"], explained), 0, explained.err);
  assert.match(explained.out, /^Caller +CN=Demo User,O=authserver trial$/m);
});

Deno.test("init --try --json and serve --json print what the manual documents", async () => {
  await using at = await folder();
  const service = runAuthserver(["init", "--try", "--json", "--port", "0"], { cwd: at.path });
  await service.prints(/"Send TERM signal/);
  service.kill("SIGTERM");
  assert.equal(await service.ended, 0, service.printed);
  const end = service.printed.indexOf("\n}\n") + 2;
  const site = JSON.parse(service.printed.slice(0, end));
  assert.deepEqual(jsonDifferences(site, documented(init.spec).json), []);
  assert.equal(site.user, "demo");
  const lines = service.printed.slice(end).trim().split("\n").map((line) => JSON.parse(line));
  for (const line of lines) assert.deepEqual(jsonDifferences(line, documented(serve.spec).json), []);
  const started = lines.find(({ message }) => message === "service started");
  assert.equal(typeof started?.port, "number");
});

for (
  const [args, message] of [
    [["--try", "--system"], /Expected --try or --system, found both/],
    [["--try", "--port", "70000"], /Expected a port number up to 65535 behind --port, found "70000"/],
    [["--port", "9000"], /Expected --port with --try only/],
  ] as const
) {
  Deno.test(`init reports ${args.join(" ")} as wrong usage`, async () => {
    const io = recordedIo();
    assert.equal(await init.run(args, io), 2);
    assert.match(io.err, message);
  });
}

Deno.test("createTrialCertificates() creates an authority and a certificate that it signed", () => {
  const valid = [new Date("2030-01-01T00:00:00Z"), new Date("2030-01-31T00:00:00Z")] as const;
  const { authority, service } = createTrialCertificates(...valid);
  const [ca, own] = [authority, service.certificate].map((pem) => new X509Certificate(pem));
  assert(ca?.ca && own && !own.ca);
  assert(own.checkIssued(ca) && own.verify(ca.publicKey) && ca.verify(ca.publicKey));
  assert.equal(own.subject, "O=authserver trial\nCN=localhost");
  assert.equal(own.subjectAltName, "DNS:localhost");
  assert.equal(Date.parse(own.validTo), Date.parse("2030-01-31T00:00:00Z"));
  assert.notEqual(own.serialNumber, ca.serialNumber);
  assert.equal(certificateFacts(ca).signsCertificates, true);
  assert.equal(permits(certificateFacts(own), "serverAuth"), true);
  const way = findPath([own], { anchors: [authority], purpose: "serverAuth", at: valid[0].getTime() + 1 });
  assert.notEqual(typeof way, "string", String(way)); // no unknown critical extension
});
