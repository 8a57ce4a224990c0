/** The stock client runs the command lines of the page of servers, for all authenticators and logins. */
import assert from "node:assert/strict";
import { startOidcProvider } from "../identity_provider/oidc_provider.ts";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import { createAuthority } from "../pki/authority.ts";
import { authenticatorProperties, userToken } from "../system/every_method.ts";
import { ALICE, ALICE_DN, runService } from "../system/running_service.ts";
import { hasProgram, lacking, run } from "./lacking.ts";
import { findPyuftp } from "./pyuftp.ts";

const PART = "command lines of the page and pyuftp";
const KEY = new URL("../fixtures/ssh_keys/user_ed25519", import.meta.url).pathname;

/** `Authorization` header for a login by each authenticator. */
const LOGINS = {
  PASSWORD: () => `Basic ${btoa(ALICE.join(":"))}`,
  SSHKEY: () => `Bearer ${userToken("alice", "user_ed25519")}`,
  OAUTH: () => "Bearer token-of-alice",
};
const NAMES = ["PASSWORD", "SSHKEY", "OAUTH"] as const;

const pyuftp = await hasProgram("python3") ? await findPyuftp(PART) : lacking(PART, "install python3");

if (typeof pyuftp === "string") {
  for (let set = 1; set < 1 << NAMES.length; set++) {
    const order = NAMES.filter((_, i) => set & 1 << i);
    for (const deviceLogin of [true, false]) {
      Deno.test(`the page's lines work with ${order.join(" ")}${deviceLogin ? ", and device login" : ""}`, () =>
        typeAll(order, deviceLogin, pyuftp));
    }
  }
}

async function typeAll(order: readonly (keyof typeof LOGINS)[], deviceLogin: boolean, pyuftp: string) {
  // A device login needs a browser sign-in, which takes passwords here.
  const byDevice = deviceLogin && order.includes("PASSWORD");
  const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
  await using oidc = await startOidcProvider(authority.issue({ subject: "CN=idp", names: ["localhost"] }));
  oidc.tokens.set("token-of-alice", { email: "alice@example.org" });
  await using system = await runService({
    authority,
    servers: { HPC: [{ maxSessions: 100 }] },
    properties: {
      "container.security.rest.authentication.order": order.join(" "),
      "container.security.browser.deviceLogin": String(deviceLogin),
      ...(order.includes("SSHKEY") && authenticatorProperties("SSHKEY", { file: "{folder}/conf/keys.txt" })),
      ...(order.includes("OAUTH") && authenticatorProperties("OAUTH", {
        class: "OAuthAuthenticator",
        address: oidc.userinfo,
        identityAssign: `"${ALICE_DN}"`,
      })),
    },
    files: { "conf/keys.txt": `alice:${publicLine("user_ed25519")}:${ALICE_DN}\n` },
  });
  const home = `${system.folder}/laptop`;
  await Deno.mkdir(`${home}/.ssh`, { recursive: true });
  await Deno.copyFile(KEY, `${home}/.ssh/id_ed25519`);
  await Deno.chmod(`${home}/.ssh/id_ed25519`, 0o600);
  for (const name of order) {
    const headers = { Authorization: LOGINS[name]() };
    const issued = await system.ask("/rest/auth/token", { headers: { ...headers, Accept: "text/plain" } });
    assert.equal(issued.status, 200, issued.text);
    await Deno.writeTextFile(`${home}/.uftp-token`, issued.text);
    const page = await system.ask("/", { headers: { ...headers, Accept: "text/html" } });
    const lines = [...page.text.matchAll(/<code id="line-HPC-\d+">([^<]*)<\/code>/g)]
      .map(([, line = ""]) =>
        line.replaceAll("&#34;", '"').replaceAll("&#39;", "'").replaceAll("&#38;", "&")
      );
    const typed = lines.filter((line) => line.startsWith("pyuftp "))
      .map((line) => line.replace(`-u ${ALICE[0]} -P`, `-u ${ALICE.join(":")}`));
    assert.equal(typed.length, 4, lines.join("\n"));
    assert.equal(lines[0]?.startsWith("curl "), name === "OAUTH" && byDevice, lines[0]);
    if (name === "OAUTH" && !byDevice) {
      // These lines need an account in oidc-agent.
      assert(typed.every((line) => line.includes(" -O ACCOUNT ")), typed.join("\n"));
      continue;
    }
    await Deno.writeTextFile(`${system.folder}/file.dat`, "down");
    for (const line of typed) {
      await run("sh", ["-c", line.replace(/^pyuftp\b/, `'${pyuftp}'`)], { cwd: home, env: { HOME: home } });
      if (!line.startsWith("pyuftp cp ") || !line.endsWith(" .")) continue;
      assert.equal(await Deno.readTextFile(`${home}/file.dat`), "down", line);
      await Deno.writeTextFile(`${home}/file.dat`, "up");
    }
    assert.equal(await Deno.readTextFile(`${system.folder}/file.dat`), "up", name);
    await Deno.remove(`${home}/file.dat`);
  }
}
