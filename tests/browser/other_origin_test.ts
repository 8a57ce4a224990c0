/** Attacks by pages of other origins in a real browser, in which a user is signed in. */
import assert from "node:assert/strict";
import { ALICE, runService } from "../system/running_service.ts";
import { createAuthority } from "../pki/authority.ts";
import { Chromium, findChromium, type Page } from "./chromium.ts";

const BROWSER = await findChromium();

/** Starts a server of an attacker with an empty page, to which a test adds content. */
function attacker(tls: { readonly certificate: string; readonly key: string }) {
  return Deno.serve(
    { hostname: "127.0.0.1", port: 0, cert: tls.certificate, key: tls.key, onListen: () => {} },
    () => new Response("<!doctype html><title>x</title><body>", { headers: { "Content-Type": "text/html" } }),
  );
}

type Fields = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Returns a script that sends fields by `fetch()` and images, and returns the visible results. */
const attack = (base: string, fields: Fields) =>
  `(async () => {
  const base = ${JSON.stringify(base)};
  const seen = [];
  for (const [path, values] of Object.entries(${JSON.stringify(fields)})) {
    const body = new URLSearchParams(values);
    for (const mode of ["cors", "no-cors"]) {
      for (const type of ["application/x-www-form-urlencoded", "text/plain", "application/json"]) {
        const asked = { method: "POST", mode, body, credentials: "include", headers: { "Content-Type": type } };
        seen.push(await fetch(base + path, asked).then((answer) => answer.type + answer.status, () => "refused"));
      }
    }
    if (path.startsWith("/rest/")) continue; // the browser would ask for a password, and wait
    const image = new Image();
    image.src = base + path + "?" + body;
    await new Promise((over) => Object.assign(image, { onload: over, onerror: over }));
    seen.push(image.naturalWidth);
  }
  seen.push(await fetch(base + "/", { credentials: "include" }).then(() => "read", () => "refused"));
  return seen;
})()`;

/** Returns a script that adds a form to the page, for another origin. */
const form = (action: string, values: Readonly<Record<string, string>>) =>
  `(() => {
  const form = document.createElement("form");
  Object.assign(form, { method: "post", action: ${JSON.stringify(action)} });
  for (const name of ${JSON.stringify(Object.keys(values))}) {
    form.append(Object.assign(document.createElement("input"), { name }));
  }
  form.append(Object.assign(document.createElement("button"), { textContent: "Win a prize" }));
  document.body.append(form);
})()`;

const text = async (page: Page) => String(await page.evaluate("document.body.innerText"));

Deno.test({
  name:
    "pages of another site, and of another port of the host, change and read nothing as the signed-in user",
  ignore: BROWSER === undefined,
  fn: async () => {
    const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
    await using system = await runService({
      authority,
      properties: { "share.servers": "HPC", "persistence.directory": "{folder}/data" },
      map: JSON.stringify({ "CN=Alice,O=Demo,C=EU": { role: "admin", xlogin: "alice", group: "hpc" } }),
    });
    const base = `https://localhost:${system.port}`;
    const server = attacker(authority.issue({ subject: "CN=evil", names: ["localhost", "127.0.0.1"] }));
    await using browser = await Chromium.start(BROWSER ?? "", ["--ignore-certificate-errors"]);
    try {
      const page = await browser.open(`${base}/login`, { width: 800, scheme: "light" });
      await page.send("Sign in", { user: ALICE[0], password: ALICE[1] });
      assert.match(await text(page), /Signed in as alice/);
      const fields = {
        "/logout": { token: "x" },
        "/login": { token: "x", user: "stranger", password: "nowhere-0815" },
        "/tokens": { token: "x", hours: "24", activity: "all" },
        "/shares/HPC": { token: "x", path: "/", access: "READ", days: "7" },
        "/admin/bans": { token: "x", user: "stranger", for: "1d", do: "ban" },
        "/rest/share/HPC": { path: "/", user: "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN" },
      };
      // The browser sends cookies with requests from the second host, which is the same site.
      for (const host of ["127.0.0.1", "localhost"]) {
        const before = system.daemon().requests.length;
        await page.go(`https://${host}:${server.addr.port}/`);
        const seen = await page.evaluate(attack(base, fields));
        const opaque = ["refused", "opaque0", 0];
        assert(Array.isArray(seen) && seen.every((each) => opaque.includes(each)), `${host}: ${seen}`);
        assert.equal(seen.length, 6 * 7);
        for (const [path, values] of Object.entries(fields)) {
          await page.go(`https://${host}:${server.addr.port}/`);
          await page.evaluate(form(base + path, values));
          await page.send("Win a prize", values);
          assert.match(
            await text(page),
            /came from a page of another site|ERR_UNSUPPORTED_MEDIA_TYPE/,
            `${host} ${path}`,
          );
        }
        await page.go(`https://${host}:${server.addr.port}/`);
        // Scripts of the same host cannot see or replace the cookie.
        assert.equal(await page.evaluate("document.cookie"), "", host);
        await page.evaluate(
          `document.cookie = "__Host-authserver-sign-in=AAAAAAAAAAAAAAAAAAAAAA; Path=/; Secure"`,
        );
        // The browser shows no page of the service in a frame.
        await page.evaluate(
          `document.body.append(Object.assign(document.createElement("iframe"), { src: ${
            JSON.stringify(base)
          } }))`,
        );
        const refused = () => page.complaints.some((complaint) => /frame-ancestors/.test(complaint));
        for (let tries = 0; tries < 500 && !refused(); tries++) {
          await page.evaluate("new Promise((next) => setTimeout(next, 20))");
        }
        assert(refused(), `${host}: no frame is refused`);
        page.complaints.length = 0;

        await page.go(`${base}/`);
        assert.match(await text(page), /Signed in as alice/, host);
        await page.go(`${base}/tokens`);
        assert.match(await text(page), /You have no tokens/, host);
        await page.go(`${base}/shares`);
        assert.match(await text(page), /You have no shares on this server/, host);
        await page.go(`${base}/admin`);
        assert.match(await text(page), /Bans\s+Nobody/, host);
        assert(!system.daemon().requests.slice(before).some(({ values }) => values?.has("secret")), host);
      }
    } finally {
      await server.shutdown();
    }
  },
});
