import assert from "node:assert/strict";
import { mountService } from "../../src/service/mount.ts";
import { until } from "../fixtures/deadline.ts";
import { startDaemon } from "../daemon_simulator/daemon.ts";
import { DEMO_USER, writeDemoConfiguration } from "../demo/demo_configuration.ts";
import { createAuthority } from "../pki/authority.ts";
import { findChromium, type Page, sharedBrowser } from "./chromium.ts";
import { look } from "./page_checks.ts";

const BROWSER = await findChromium();
if (BROWSER === undefined) {
  console.warn("No browser on this machine, its tests are skipped: apt-get install chromium");
}

const start = sharedBrowser(BROWSER);

const mapOf = (folder: string) => ({
  "CN=Demo User, O=authserver demo": {
    role: ["user", "admin"],
    xlogin: "demo",
    group: ["users", "hpc"],
    "uftpd.DEMO.rateLimit": "200M",
    "uftpd.DEMO.includes":
      `/work/demo/*:/data/a-long-name-without-any-blank-in-it/and-another-one/*:${folder}/*`,
    "uftpd.DEMO.excludes": "/work/demo/<script>alert(1)</script>/*",
  },
});
/** PNG of two by two pixels. */
const PICTURE = Uint8Array.fromBase64(
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAE0lEQVR4nGPgDl8CRAwnwkWACAAeJwRz+dnXugAAAABJRU5ErkJggg==",
);

/** Starts the service with plain HTTP on the loopback, for one live and one dead server. */
async function site() {
  const authority = createAuthority({ subject: "CN=Demo CA,O=authserver demo" });
  const folder = await Deno.makeTempDir({ prefix: "authserver-pages-" });
  await Deno.mkdir(`${folder}/home/results/figures`, { recursive: true });
  await Deno.writeTextFile(`${folder}/home/results/<b>bold & "quoted".txt`, "x");
  await Deno.writeFile(`${folder}/home/results/plot.png`, PICTURE);
  await Deno.writeTextFile(`${folder}/home/results/table.csv`, "x".repeat(123456));
  const daemon = await startDaemon({
    tls: {
      ...authority.issue({ subject: "CN=Demo UFTPD,O=authserver demo" }),
      trusted: [authority.certificate],
    },
    acl: "CN=localhost,O=authserver demo",
    users: { [DEMO_USER.account]: { uid: 1000, home: `${folder}/home`, groups: [DEMO_USER.group, "hpc"] } },
  });
  const configuration = await writeDemoConfiguration({ folder, authority, daemon }, { port: 9000 });
  const text = await Deno.readTextFile(configuration);
  // No process listens on the port of the dead server's command socket.
  const closed = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = closed.addr;
  closed.close();
  await Deno.writeTextFile(
    configuration,
    `${text.replace("authservice.servers=DEMO", "authservice.servers=DEMO ARCHIVE")}
authservice.server.ARCHIVE.description=Tape archive
authservice.server.ARCHIVE.host=127.0.0.1
authservice.server.ARCHIVE.port=64433
authservice.server.ARCHIVE.commandHost=127.0.0.1
authservice.server.ARCHIVE.commandPort=${port}
authservice.server.DEMO.reservations.enable=true
authservice.server.DEMO.reservations.file=${folder}/conf/reservations.json
`,
  );
  await Deno.writeTextFile(
    `${folder}/conf/reservations.json`,
    JSON.stringify({
      reservations: [{ name: "night run", from: "2020-01-01 00:00", to: "2099-01-01 00:00", uids: ["demo"] }],
    }),
  );
  await Deno.writeTextFile(`${folder}/conf/mapfile.json`, JSON.stringify(mapOf(folder)));
  const service = await mountService({ configuration, log: () => {} });
  const server = Deno.serve(
    { hostname: "localhost", port: 0, onListen: () => {} },
    (request, info) => service.handle(request, { address: info.remoteAddr.hostname }),
  );
  const base = `http://localhost:${server.addr.port}`;
  return {
    base,
    folder,
    async share(path: string): Promise<string> {
      const response = await fetch(`${base}/rest/share/DEMO`, {
        method: "POST",
        headers: {
          Authorization: `Basic ${btoa(`${DEMO_USER.name}:${DEMO_USER.password}`)}`,
          "Content-Type": "application/json",
        },
        body: JSON.stringify({ path, user: "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN" }),
      });
      assert.equal(response.status, 201, await response.text());
      return new URL(response.headers.get("Location") ?? "").pathname.replace("share", "access");
    },
    async [Symbol.asyncDispose]() {
      await server.shutdown();
      await service.close();
      await daemon.close();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Checks a page in each view. @param allowed Complaints of the browser that are no defect. */
async function check(page: Page, name: string, { allowed = /^$/ }: { readonly allowed?: RegExp } = {}) {
  await look(page, name);
  assert.deepEqual(page.complaints.filter((complaint) => !allowed.test(complaint)), [], name);
}

Deno.test({
  name: "pages are accessible, fit every screen, and violate no policy",
  ignore: BROWSER === undefined,
  fn: async () => {
    await using at = await site();
    const shared = await at.share(`${at.folder}/home/results/`);
    await using browser = await start();
    const view = { width: 1280, scheme: "light" } as const;
    const anonymous = await browser.open(`${at.base}/`, view);
    await check(anonymous, "anonymous");
    assert.doesNotMatch(String(await anonymous.evaluate("document.body.innerText")), /demouser|night run/);

    const known = await browser.open(`${at.base}/rest/auth`, view);
    await known.follow("Sign in");
    await check(known, "sign-in");
    await known.send("Sign in", { user: DEMO_USER.name, password: "wrong" });
    await check(known, "wrong-password", { allowed: /status of 403/ });
    await known.send("Sign in", { user: DEMO_USER.name, password: DEMO_USER.password });
    await check(known, "signed-in", { allowed: /status of 403/ });
    const text = String(await known.evaluate("document.body.innerText"));
    for (
      const expected of [
        /Signed in as demouser/,
        /Transfer servers up: 1 of 2/,
        /Tape archive/,
        /\bDown\b/,
        /200 MiB\/s/,
        /\/work\/demo\/\*/,
        /<script>alert\(1\)<\/script>/,
        /night run/,
        /Your shares/,
        /pyuftp cp -u demouser -P https:\/\/localhost:9000\/rest\/auth\/DEMO:/,
      ]
    ) assert.match(text, expected);

    const looked = { allowed: /status of 403/ };
    await known.follow("Administration");
    await check(known, "administration", looked);
    await known.send("Ban", { user: "somebody", address: "2001:db8::7" });
    await check(known, "administration-ban", looked);
    await known.send("Unban");
    await known.follow("Servers");
    await known.follow("Shares");
    await check(known, "own-shares", looked);
    await known.follow("New share");
    await check(known, "browse", looked);
    await known.follow("Share this directory");
    await check(known, "new-share", looked);
    await known.send("Share", { days: "7", note: "Results of run 42" });
    await check(known, "own-share", looked);
    assert.equal(await known.evaluate("document.querySelector('button[data-copy]').hidden"), false);
    assert.match(
      String(await known.evaluate("document.querySelector('#address').value")),
      /rest\/access\/DEMO/,
    );
    // A headless browser has no permission to use the clipboard.
    await known.evaluate("navigator.clipboard.writeText = (text) => Promise.resolve(window.copied = text)");
    await known.evaluate("document.querySelector('button[data-copy]').click()");
    const news = "document.querySelector('#news').textContent";
    await until(async () => await known.evaluate(news) === "Copied", { what: "the news of the copy" });
    assert.equal(await known.evaluate("copied === document.querySelector('#address').value"), true);
    assert.match(
      String(await known.evaluate("document.querySelector('details.danger').textContent")),
      /This deletes the share of .*\/home\/.* for everyone with the link/,
    );
    await known.send("Delete the link and its log of uses");
    assert.equal(await known.evaluate("location.pathname"), "/shares");

    await known.go(`${at.base}/tokens`);
    await check(known, "tokens", looked);

    await anonymous.go(`${at.base}${shared}/`);
    await check(anonymous, "listing");
    assert.match(String(await anonymous.evaluate("document.body.innerText")), /<b>bold & "quoted"\.txt/);
    await anonymous.go(`${at.base}${shared}/table.csv?view=preview`);
    await check(anonymous, "preview");
    await anonymous.go(`${at.base}${shared}/plot.png?view=preview`);
    await check(anonymous, "picture");
    assert.equal(await anonymous.evaluate("document.images[0].naturalWidth"), 2);

    await anonymous.go(`${at.base}/nothing`);
    await check(anonymous, "missing", { allowed: /status of 404/ });
  },
});

Deno.test({
  name: "a browser stays signed in on all pages, and links of a listing stay in the share",
  ignore: BROWSER === undefined,
  fn: async () => {
    await using at = await site();
    const shared = await at.share(`${at.folder}/home/results/`);
    await using browser = await start();
    const page = await browser.open(`${at.base}/`, { width: 1280, scheme: "light" });
    await page.follow("Sign in");
    await page.send("Sign in", { user: DEMO_USER.name, password: DEMO_USER.password });
    assert.equal(await page.evaluate("location.pathname"), "/");
    assert.match(String(await page.evaluate("document.body.innerText")), /Signed in as demouser/);
    assert.equal(await page.evaluate("document.cookie"), "", "scripts see nothing of it");
    await page.go(`${at.base}${shared}/`);
    const links = async () =>
      await page.evaluate(
        "[...document.querySelectorAll('tbody a')].map(({ href }) => new URL(href).pathname)",
      );
    const bold = `${shared}/${encodeURIComponent('<b>bold & "quoted".txt')}`;
    const files = [
      bold,
      bold,
      `${shared}/plot.png`,
      `${shared}/plot.png`,
      `${shared}/table.csv`,
      `${shared}/table.csv`,
    ];
    assert.deepEqual(await links(), [`${shared}/figures/`, ...files]);
    await page.follow("Size");
    await page.follow("Size");
    assert.deepEqual(await links(), [
      `${shared}/figures/`,
      `${shared}/table.csv`,
      `${shared}/table.csv`,
      ...files.slice(2, 4),
      bold,
      bold,
    ]);
    await page.go(`${at.base}${shared}/?find=BOLD`);
    assert.deepEqual(await links(), [bold, bold]);
    await page.follow("Show all");
    assert.deepEqual(await links(), [`${shared}/figures/`, ...files]);
  },
});
