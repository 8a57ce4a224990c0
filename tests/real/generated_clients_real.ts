/** Tests that clients generated from the service's OpenAPI description compile and run the quick start. */
import assert from "node:assert/strict";
import { DEMO_USER } from "../demo/demo_configuration.ts";
import { startDemo } from "../demo/started_demo.ts";
import { hasProgram, lacking, run } from "./lacking.ts";
import { virtualEnvironment } from "./python.ts";

const PYTHON_GENERATOR = "openapi-python-client==0.29.1";
const TYPESCRIPT_GENERATOR = "openapi-typescript@7.13.0";

/** Quick start in Python: shows the user, and opens a session. */
const QUICK_START = `
import ssl, sys
from authserver_client import AuthenticatedClient
from authserver_client.api.auth import list_servers, open_session
from authserver_client.models import Error, SessionRequest
url, token, authority = sys.argv[1:]
client = AuthenticatedClient(base_url=url, token=token, prefix="Basic",
                             verify_ssl=ssl.create_default_context(cafile=authority),
                             headers={"Accept": "application/json"})
servers = list_servers.sync(client=client)
print("dn", servers.client.dn)
grant = open_session.sync("DEMO", client=client, body=SessionRequest(server_path=""))
print("session", grant.success, len(grant.secret))
missing = open_session.sync("NONE", client=client, body=SessionRequest(server_path=""))
print("error", isinstance(missing, Error), missing.code)
`;

const python = "a client in Python (openapi-python-client)";
if (!await hasProgram("python3")) lacking(python, "install python3");
else {
  const environment = await virtualEnvironment([PYTHON_GENERATOR]).catch((error) => {
    lacking(python, `PyPI is not reached (${String(error).split("\n")[0]})`);
  });
  if (environment !== undefined) {
    Deno.test(`${python} is made and runs the quick start`, async () => {
      await using demo = await startDemo();
      const folder = await Deno.makeTempDir();
      const description = await describe(demo.port, demo.folder, folder);
      const said = await run(
        `${environment}/bin/openapi-python-client`,
        ["generate", "--path", description],
        {
          cwd: folder,
        },
      );
      assert.doesNotMatch(said, /Unable to parse|WARNING parsing|Skipping (?!Integration)/, said);
      const { name, password } = DEMO_USER;
      await Deno.writeTextFile(`${folder}/quick_start.py`, QUICK_START);
      const url = `https://localhost:${demo.port}`;
      const credentials = btoa(`${name}:${password}`);
      const printed = await run(
        `${environment}/bin/python`,
        ["quick_start.py", url, credentials, `${demo.folder}/conf/ca-cert.pem`],
        { cwd: folder, env: { PYTHONPATH: `${folder}/authserver-client` } },
      );
      assert.match(printed, /^dn CN=Demo User/m);
      assert.match(printed, /^session True \d{2}$/m);
      assert.match(printed, /^error True ERR_/m);
      await Deno.remove(folder, { recursive: true });
    });
  }
}

/** Quick start in TypeScript, with only the generated types. */
const TYPED_QUICK_START = `
import type { paths } from "./schema.ts";
type Servers = paths["/rest/auth"]["get"]["responses"][200]["content"]["application/json"];
type Session = paths["/rest/auth/{server}"]["post"];
const [url = "", authorization = "", authority = ""] = Deno.args;
const client = Deno.createHttpClient({ caCerts: [Deno.readTextFileSync(authority)] });
const headers = { authorization, accept: "application/json", "content-type": "application/json" };
const servers: Servers = await (await fetch(url + "/rest/auth", { client, headers })).json();
console.log("dn", servers.client.dn);
const wanted: Session["requestBody"]["content"]["application/json"] = { serverPath: "" };
const reply = await fetch(url + "/rest/auth/DEMO", { client, headers, method: "POST", body: JSON.stringify(wanted) });
const grant: Session["responses"][200]["content"]["application/json"] = await reply.json();
console.log("session", grant.success, grant.secret.length);
client.close();
`;

const typescript = "a client in TypeScript (openapi-typescript)";
if (!await hasProgram("npx")) lacking(typescript, "install Node.js with npm");
else {
  Deno.test(`${typescript} is made and runs the quick start`, async () => {
    await using demo = await startDemo();
    const folder = await Deno.makeTempDir();
    const description = await describe(demo.port, demo.folder, folder);
    await run("npx", ["--yes", TYPESCRIPT_GENERATOR, description, "-o", "schema.ts"], { cwd: folder });
    await Deno.writeTextFile(`${folder}/quick_start.ts`, TYPED_QUICK_START);
    const { name, password } = DEMO_USER;
    const printed = await run(Deno.execPath(), [
      "run",
      "--check",
      "--no-config",
      "--allow-net",
      "--allow-read",
      "quick_start.ts",
      `https://localhost:${demo.port}`,
      `Basic ${btoa(`${name}:${password}`)}`,
      `${demo.folder}/conf/ca-cert.pem`,
    ], { cwd: folder, env: { NO_COLOR: "1" } });
    assert.match(printed, /^dn CN=Demo User/m);
    assert.match(printed, /^session true \d{2}$/m);
    await Deno.remove(folder, { recursive: true });
  });
}

/** Writes the service's OpenAPI description into a folder. @returns Path of the file. */
async function describe(port: number, site: string, folder: string): Promise<string> {
  using client = Deno.createHttpClient({ caCerts: [await Deno.readTextFile(`${site}/conf/ca-cert.pem`)] });
  const response = await fetch(`https://localhost:${port}/openapi.json`, { client });
  assert.equal(response.status, 200);
  await Deno.writeTextFile(`${folder}/openapi.json`, await response.text());
  return `${folder}/openapi.json`;
}
