/**
 * Tokens of a real Keycloak, verified by issuer, from its user to a session on a daemon. Keycloak comes from
 * `KEYCLOAK_HOME`, a folder with its distribution, or from Maven Central (some 170 MB, kept in the cache of
 * the user). It needs Java 17 or later.
 */
import assert from "node:assert/strict";
import { type Recipe, recipeOf } from "../docs/recipe.ts";
import { createDpopClient } from "../identity_provider/dpop_client.ts";
import { type Authority, createAuthority } from "../pki/authority.ts";
import { authenticatorProperties } from "../system/every_method.ts";
import { runService, type SystemUnderTest } from "../system/running_service.ts";
import { send } from "./https_form.ts";
import { formToken, Visitor } from "../system/visitor.ts";
import { hasProgram, lacking, run } from "./lacking.ts";
import { findPyuftp } from "./pyuftp.ts";

const PART = "Keycloak";
const VERSION = "26.7.3";
const DISTRIBUTION = "https://repo.maven.apache.org/maven2/org/keycloak/keycloak-quarkus-dist";
/** Longest start of Keycloak, in milliseconds: usually a minute or two, on a busy machine ten. */
const MAX_WAIT_MS = 15 * 60_000;

/** Address of the service for clients, as in the manual. */
const EXTERNAL_URL = "https://uftp.example.org";

const home = await installed();
if (home !== undefined) {
  Deno.test(`${PART} ${VERSION}, by the manual: from its tokens and passwords to a session; other tokens, other keys`, async () => {
    const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
    await using keycloak = await startKeycloak(home, authority);
    const issuer = `${keycloak.origin}/realms/hpc`;
    const recipe = await recipeOf("Keycloak", { "https://idp.example.org": keycloak.origin });
    const [byToken = {}, byPassword = {}] = recipe.settings;
    const base = `https://localhost:${freePorts()[0]}`;
    const signIn = await recipeOf("Browser sign-in", {
      "https://idp.example.org": keycloak.origin,
      "https://uftp.example.org:9000": base,
    });
    // The second recipe continues the first one in the same shell.
    await keycloak.type({ files: recipe.files, commands: [...recipe.commands, ...signIn.commands] });
    const clientSecret = await keycloak.type({
      files: {},
      commands: [
        "kcadm.sh get clients -r hpc -q clientId=uftp --fields secret --format csv --noquotes",
      ],
    });

    await using verifying = await runService({ authority, properties: byToken });
    await using asking = await runService({
      authority,
      properties: {
        ...byToken,
        ...authenticatorProperties("OAUTH", {
          askAlways: "true",
          validate: "true",
          clientID: "uftp",
          clientSecret: clientSecret.trim(),
          cacheSeconds: "0",
        }),
      },
    });
    const tokens = (client: string, headers = {}) => tokensFor(client, { issuer, authority, headers });
    await logsIn(verifying, tokens, issuer);
    await bound(verifying, tokens, issuer);
    await endsWithItsSession(asking, tokens, issuer, authority);
    await using withPasswords = await runService({
      authority,
      properties: {
        ...byPassword,
        "container.externalurl": EXTERNAL_URL,
        "container.security.trustedAssertionIssuers.directoryLocations.1": "{folder}/conf/idp-signing.pem",
      },
      files: { "conf/idp-signing.pem": await keycloak.made("idp-signing.pem") },
    });
    await passwords(withPasswords, issuer);
    await lockedOut(withPasswords);
    const [byBrowser = {}] = signIn.settings;
    const browserSecret = await keycloak.type({
      files: {},
      commands: [
        "kcadm.sh get clients -r hpc -q clientId=uftp-browser --fields secret --format csv --noquotes",
      ],
    });
    await person({ ...byToken, ...byBrowser }, {
      authority,
      base,
      secret: browserSecret.trim(),
      origin: keycloak.origin,
    });
    await newKey(verifying, tokens, keycloak);
  });
}

type Tokens = (
  client: string,
  headers?: Readonly<Record<string, string>>,
) => Promise<Readonly<Record<string, string>>>;

/** Gets Ann's tokens for her password. */
async function tokensFor(
  client: string,
  { issuer, authority, headers }: {
    readonly issuer: string;
    readonly authority: Authority;
    readonly headers: Readonly<Record<string, string>>;
  },
): Promise<Readonly<Record<string, string>>> {
  const said = await send(`${issuer}/protocol/openid-connect/token`, authority.certificate, {
    form: {
      grant_type: "password",
      client_id: client,
      client_secret: `${client}-secret-4711`,
      username: "ann",
      password: "wonder-4711",
      scope: "openid",
    },
  }, headers);
  return Object.fromEntries(Object.entries(said).map(([name, value]) => [name, String(value)]));
}

async function statusOf(system: SystemUnderTest, token: string | undefined): Promise<number> {
  return (await system.ask("/rest/auth", { headers: { Authorization: `Bearer ${token}` } })).status;
}

async function logsIn(system: SystemUnderTest, tokens: Tokens, issuer: string): Promise<void> {
  const { access_token: token, id_token, refresh_token } = await tokens("portal");
  const headers = { Authorization: `Bearer ${token}` };
  const { client } = (await system.ask("/rest/auth", { headers })).json();
  assert.deepEqual(client, {
    dn: `CN=${JSON.parse(atob((token ?? "").split(".")[1] ?? "")).sub},O=${issuer}`,
    xlogin: { UID: "ann", availableUIDs: ["ann"], group: "proja", availableGroups: ["proja"] },
    role: { selected: "user", availableRoles: ["user"] },
    authenticationMethod: "OAUTH",
  });
  const session = await system.ask("/rest/auth/HPC", { headers, body: { serverPath: "" } });
  assert.equal(session.status, 200, session.text);
  const values = system.daemon().sessionRequests.at(-1);
  assert.deepEqual([values?.get("user"), values?.get("group")], ["ann", "proja"]);
  assert.equal(await statusOf(system, id_token), 401, "an ID token");
  assert.equal(await statusOf(system, refresh_token), 401, "a refresh token");
  assert.equal(await statusOf(system, (await tokens("stranger")).access_token), 401, "for another client");
}

async function bound(system: SystemUnderTest, tokens: Tokens, issuer: string): Promise<void> {
  const [holder, thief] = [await createDpopClient(), await createDpopClient()];
  const tokenUrl = `${issuer}/protocol/openid-connect/token`;
  const { access_token: token = "", token_type } = await tokens("bound", {
    DPoP: holder.prove({ token: "", method: "POST", url: tokenUrl }, { claims: { ath: undefined } }),
  });
  assert.equal(token_type, "DPoP");
  const url = `https://localhost:${system.port}/rest/auth`;
  const shown = async (client: typeof holder) => {
    const DPoP = client.prove({ token, method: "GET", url });
    return (await system.ask("/rest/auth", { headers: { Authorization: `DPoP ${token}`, DPoP } })).status;
  };
  assert.equal(await shown(holder), 200, "with proof");
  assert.equal(await shown(thief), 401, "with another's proof");
  assert.equal(await statusOf(system, token), 401, "without proof");
}

/** Logs Ann in by her password, which goes to Keycloak, and opens a session; tries a wrong password. */
async function passwords(system: SystemUnderTest, issuer: string): Promise<void> {
  const basic = (password: string) => ({ Authorization: `Basic ${btoa(`ann:${password}`)}` });
  const headers = basic("wonder-4711");
  const reply = await system.ask("/rest/auth", { headers });
  assert.equal(reply.status, 200, `${reply.text}\n${system.log.join("\n")}`);
  assert.deepEqual(reply.json().client, {
    dn: `CN=ann,O=${issuer}`,
    xlogin: { UID: "ann", availableUIDs: ["ann"], availableGroups: [] },
    role: { selected: "user", availableRoles: ["user"] },
    authenticationMethod: "UNITY-SAML",
  });
  const session = await system.ask("/rest/auth/HPC", { headers, body: { serverPath: "" } });
  assert.equal(session.status, 200, session.text);
  assert.equal((await system.ask("/rest/auth", { headers: basic("wonder-4712") })).status, 401);
}

/** Guesses Ann's password until the service throttles logins. */
async function lockedOut(system: SystemUnderTest): Promise<void> {
  const guess = async (password: string) => {
    const headers = { Authorization: `Basic ${btoa(`ann:${password}`)}` };
    return (await system.ask("/rest/auth", { headers })).status;
  };
  const seen = new Set<number>();
  for (let i = 0; i < 30 && !seen.has(429); i++) seen.add(await guess(`guess-${i}`));
  assert.deepEqual([...seen], [401, 429]);
}

/** Signs Ann in at Keycloak by browser, approves the login script, and copies a file by its command line. */
async function person(
  properties: Readonly<Record<string, string>>,
  { authority, base, secret, origin }: {
    readonly authority: Authority;
    readonly base: string;
    readonly secret: string;
    readonly origin: string;
  },
): Promise<void> {
  const home = await Deno.makeTempDir({ prefix: "authserver-ann-" });
  await Deno.writeTextFile(`${home}/result.dat`, "arrived");
  await using system = await runService({
    authority,
    servers: { HPC: [{ users: { ann: { uid: 1000, home, groups: ["users", "proja"] } }, maxSessions: 100 }] },
    properties: {
      ...properties,
      "container.externalurl": base,
      "container.port": new URL(base).port,
      "container.security.rest.authentication.OAUTH.clientSecret": secret,
      "persistence.directory": "{folder}",
    },
  });
  const browser = new Visitor(system);
  const atKeycloak = new Visitor({ port: Number(new URL(origin).port), authority });
  const away = new URL((await browser.get("/login/OAUTH")).headers.location ?? "");
  const form = await atKeycloak.get(`${away.pathname}${away.search}`);
  const [, action = ""] = /<form[^>]* action="([^"]+)"/.exec(form.text) ?? [];
  const { pathname, search } = new URL(action.replaceAll("&amp;", "&"));
  const answer = await atKeycloak.post(`${pathname}${search}`, { username: "ann", password: "wonder-4711" });
  const back = new URL(answer.headers.location ?? "");
  assert.equal(back.origin, base, answer.text);
  assert.equal((await browser.get(`${back.pathname}${back.search}`)).status, 303);
  assert.match((await browser.get("/")).text, /Signed in as <strong><bdi>Ann Example<\/bdi><\/strong>/);

  const pyuftp = await findPyuftp(PART);
  if (pyuftp === undefined) return;
  const laptop = await Deno.makeTempDir({ prefix: "authserver-laptop-" });
  await Deno.writeTextFile(`${laptop}/ca.pem`, authority.certificate);
  const script = new Deno.Command("sh", {
    args: ["-c", `curl -fsSO ${base}/login.sh && sh login.sh`],
    cwd: laptop,
    env: { HOME: laptop, CURL_CA_BUNDLE: `${laptop}/ca.pem` },
    stdout: "piped",
  }).spawn();
  let printed = "";
  let allowed = false;
  for await (const text of script.stdout.pipeThrough(new TextDecoderStream())) {
    printed += text;
    const [, user_code] = /user_code=(\w{4}-\w{4})\s/.exec(printed) ?? [];
    if (user_code === undefined || allowed) continue;
    allowed = true;
    const page = await browser.get("/login/device");
    await browser.post("/login/device/allow", { token: formToken(page), user_code });
  }
  const line = printed.split("\n").find((each) => each.startsWith("pyuftp ")) ?? "";
  assert.match(line, /^pyuftp ls -A /, printed);
  const copy = line.replace(/^pyuftp ls/, `'${pyuftp}' cp`).replace(/:\.\/$/, ":./result.dat .");
  await run("sh", ["-c", copy], { cwd: laptop, env: { HOME: laptop } });
  assert.equal(await Deno.readTextFile(`${laptop}/result.dat`), "arrived");
  await Promise.all([home, laptop].map((folder) => Deno.remove(folder, { recursive: true })));
}

async function endsWithItsSession(
  system: SystemUnderTest,
  tokens: Tokens,
  issuer: string,
  authority: Authority,
): Promise<void> {
  const { access_token: token, refresh_token = "" } = await tokens("portal");
  assert.equal(await statusOf(system, token), 200, "introspected");
  await send(`${issuer}/protocol/openid-connect/logout`, authority.certificate, {
    form: { client_id: "portal", client_secret: "portal-secret-4711", refresh_token },
  });
  assert.equal(await statusOf(system, token), 401, "after the logout");
}

async function newKey(
  system: SystemUnderTest,
  tokens: Tokens,
  { administrate }: Pick<Awaited<ReturnType<typeof startKeycloak>>, "administrate">,
): Promise<void> {
  const { access_token: before } = await tokens("portal");
  await administrate("/admin/realms/hpc/components", {
    name: "next key",
    providerId: "rsa-generated",
    providerType: "org.keycloak.keys.KeyProvider",
    config: {
      priority: ["200"],
      algorithm: ["RS256"],
      keySize: ["2048"],
      active: ["true"],
      enabled: ["true"],
    },
  });
  const { access_token: after } = await tokens("portal");
  const kid = (token = "") => JSON.parse(atob(token.split(".")[0] ?? "")).kid;
  assert.notEqual(kid(after), kid(before));
  let status = 0;
  // The service fetches keys at most once in 30 seconds.
  for (let i = 0; i < 40 && status !== 200; i++) {
    status = await statusOf(system, after);
    if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  assert.equal(status, 200, "signed by the new key");
  assert.equal(await statusOf(system, before), 200, "signed by the old key");
}

/** Returns the folder of the distribution. */
async function installed(): Promise<string | undefined> {
  const set = Deno.env.get("KEYCLOAK_HOME");
  if (!await hasProgram("java")) return lackingPart("install Java 17 or later");
  if (set !== undefined) return set;
  const cache = `${Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`}/authserver-tests`;
  const folder = `${cache}/keycloak-${VERSION}`;
  if (await Deno.stat(`${folder}/bin/kc.sh`).then(() => true, () => false)) return folder;
  try {
    await Deno.mkdir(cache, { recursive: true });
    const archive = `${cache}/keycloak.zip`;
    await run("curl", ["-sSfo", archive, `${DISTRIBUTION}/${VERSION}/keycloak-quarkus-dist-${VERSION}.zip`]);
    await run("unzip", ["-q", archive, "-d", cache]);
    await Deno.remove(archive);
    return folder;
  } catch (error) {
    return lackingPart(`Maven Central is not reached (${String(error).split("\n")[0]})`);
  }
}

function lackingPart(what: string): undefined {
  lacking(PART, what);
}

/** Starts a new Keycloak with the realm of `keycloak_realm.json`. */
async function startKeycloak(home: string, authority: Authority) {
  const folder = await Deno.makeTempDir({ prefix: "authserver-keycloak-" });
  await run("cp", ["-r", `${home}/.`, folder]);
  const own = authority.issue({ subject: "CN=localhost", names: ["localhost", "127.0.0.1"] });
  await Deno.writeTextFile(`${folder}/cert.pem`, own.certificate);
  await Deno.writeTextFile(`${folder}/key.pem`, own.key);
  await Deno.writeTextFile(`${folder}/ca.pem`, authority.certificate);
  const [port, management] = freePorts();
  const process = new Deno.Command(`${folder}/bin/kc.sh`, {
    args: [
      "start-dev",
      "--db=dev-mem",
      "--http-enabled=false",
      `--https-port=${port}`,
      `--https-certificate-file=${folder}/cert.pem`,
      `--https-certificate-key-file=${folder}/key.pem`,
      `--http-management-port=${management}`,
    ],
    cwd: folder,
    env: { KC_BOOTSTRAP_ADMIN_USERNAME: "admin", KC_BOOTSTRAP_ADMIN_PASSWORD: "admin-4711" },
    stdin: "null",
    stdout: "null",
    stderr: "null",
    detached: true,
  }).spawn();
  const stop = async () => {
    Deno.kill(-process.pid, "SIGKILL");
    await process.status;
    await Deno.remove(folder, { recursive: true });
  };
  const origin = `https://localhost:${port}`;
  const administrate = async (path: string, json: unknown) => {
    const { access_token } = await send(
      `${origin}/realms/master/protocol/openid-connect/token`,
      authority.certificate,
      { form: { grant_type: "password", client_id: "admin-cli", username: "admin", password: "admin-4711" } },
    );
    const headers = { Authorization: `Bearer ${access_token}` };
    await send(`${origin}${path}`, authority.certificate, { json }, headers);
  };
  try {
    const realm = JSON.parse(await Deno.readTextFile(new URL("keycloak_realm.json", import.meta.url)));
    const giveUpAt = performance.now() + MAX_WAIT_MS;
    for (;;) {
      try {
        await administrate("/admin/realms", realm);
        break;
      } catch (error) {
        if (performance.now() > giveUpAt) throw error;
        await new Promise((resolve) => setTimeout(resolve, 2000));
      }
    }
  } catch (error) {
    await stop();
    throw error;
  }
  /** Runs a recipe's commands in a folder with its files, and with the administrator's password set. */
  const type = async ({ files, commands }: Pick<Recipe, "files" | "commands">) => {
    for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${folder}/${name}`, text);
    const store =
      `keytool -importcert -noprompt -alias ca -file ca.pem -keystore ca.p12 -storepass trusted 2>&1 &&
      kcadm.sh config truststore --trustpass trusted $PWD/ca.p12`;
    if (!await Deno.stat(`${folder}/ca.p12`).then(() => true, () => false)) await shell(store);
    return await shell(["set -eu", ...commands].join("\n"));
  };
  const shell = (commands: string) =>
    run("bash", ["-o", "pipefail", "-c", commands], {
      cwd: folder,
      env: {
        PATH: `${folder}/bin:${Deno.env.get("PATH")}`,
        HOME: folder,
        KC_CLI_PASSWORD: "admin-4711",
      },
    });
  const made = (name: string) => Deno.readTextFile(`${folder}/${name}`);
  return { origin, administrate, type, made, [Symbol.asyncDispose]: stop };
}

/** Returns two free ports of the loopback. */
function freePorts(): [number, number] {
  const listeners = [0, 0].map((port) => Deno.listen({ hostname: "127.0.0.1", port }));
  const [first = 0, second = 0] = listeners.map(({ addr }) => addr.port);
  listeners.forEach((listener) => listener.close());
  return [first, second];
}
