/** Work of users with the service, from the sign-in to the end of a share, in a real browser. */
import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { findChromium, type Page, type SharedBrowser, sharedBrowser } from "./chromium.ts";
import { LONG } from "../long/results.ts";
import { look } from "./page_checks.ts";
import { ALICE } from "../system/running_service.ts";
import { cutting } from "../system/sharing/cut_way.ts";
import { digestOf, largeFile } from "../system/sharing/large_file.ts";
import { SharingSystem } from "../system/sharing/sharing_system.ts";

const BROWSER = await findChromium();
if (BROWSER === undefined) {
  console.warn("No browser on this machine, its journeys are skipped: apt-get install chromium");
}
const ignore = BROWSER === undefined;

/** Size of the file that is uploaded over a bad connection, in bytes. */
const SIZE = (LONG ? 200 : 20) * 1000 * 1000;
const PHONE = { width: 360, scheme: "light" } as const;
const DESK = { width: 1280, scheme: "dark" } as const;

const start = sharedBrowser(BROWSER, ["--ignore-certificate-errors"]);

/** Signs Alice in by the form, starting from the first page. */
async function signedIn(browser: SharedBrowser, origin: string, { scripts = true } = {}): Promise<Page> {
  const page = await browser.open("about:blank", DESK);
  if (!scripts) await page.runScripts(false);
  await page.go(`${origin}/`);
  await page.follow("Sign in");
  const [user, password] = ALICE;
  await page.send("Sign in", { user, password });
  return page;
}

/** Goes by links and forms to a directory of Alice's home, and shares it. @returns Its link. */
async function share(
  page: Page,
  directory: string,
  fields: Readonly<Record<string, string>>,
): Promise<string> {
  await page.go(new URL("/", String(await page.evaluate("location.href"))).href);
  await page.follow("Shares");
  await page.follow("New share");
  await page.follow(`${directory}/`);
  await page.follow("Share this directory");
  await page.send("Share", fields);
  return String(await page.evaluate("document.querySelector('#address').value"));
}

const text = async (page: Page) => String(await page.evaluate("document.body.innerText"));

/** Checks a page that was loaded without scripts; the checks themselves need scripts. */
async function lookWithoutScript(page: Page, name: string): Promise<void> {
  await page.runScripts(true);
  await look(page, name);
  await page.runScripts(false);
}

/** Returns the digests of the files below a folder, by path. */
async function tree(folder: string, path = ""): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const { name, isDirectory } of Deno.readDir(`${folder}/${path}`)) {
    const below = `${path}${name}`;
    if (isDirectory) (await tree(folder, `${below}/`)).forEach((value, key) => found.set(key, value));
    else found.set(below, await digestOf(`${folder}/${below}`));
  }
  return found;
}

/** Unpacks an archive with independent software. */
async function unpack(archive: string, folder: string): Promise<void> {
  const { success, stderr } = await new Deno.Command("unzip", { args: ["-q", archive, "-d", folder] })
    .output();
  assert(success, new TextDecoder().decode(stderr));
}

Deno.test({
  name:
    "a user signs in, requests files, gets a large file and a folder over a bad connection, shares them as .zip, and ends the share",
  ignore,
  fn: async () => {
    await using sharing = await SharingSystem.open();
    await using way = cutting(sharing.system.port, [SIZE * 0.3, SIZE * 0.25]);
    const files = await Deno.makeTempDir();
    const digest = await largeFile(`${files}/large.bin`, SIZE);
    await Deno.writeTextFile(`${files}/ten.txt`, "another ten");
    await Deno.writeTextFile(`${files}/<img src=x onerror=alert(1)>.txt`, "hostile");
    await Deno.writeTextFile(`${files}/empty`, "");
    await Deno.writeTextFile(`${files}/.hidden`, "x");
    await Deno.writeTextFile(`${files}/a\tb.txt`, "x");
    await Deno.mkdir(`${files}/run 7/figures`, { recursive: true });
    await Deno.writeTextFile(`${files}/run 7/a.csv`, "1,2");
    await Deno.writeTextFile(`${files}/run 7/figures/b.svg`, "<svg/>");

    await using browser = await start();
    const owner = await signedIn(browser, sharing.origin);
    const incoming = new URL(
      await share(owner, "d", { access: "DROP", days: "7", files: "10", note: "Raw <b>data</b>, please" }),
    );
    const guest = await browser.open(`https://localhost:${way.port}${incoming.pathname}`, PHONE);
    await look(guest, "upload");
    const shown = await text(guest);
    for (
      const expected of [
        /Upload files to\s+d/,
        /Shared by Alice/,
        /Raw <b>data<\/b>, please/,
        /10 more files/,
        /Raw <b>data[^]*Choose files[^]*curl -T/,
      ]
    ) {
      assert.match(shown, expected);
    }
    assert.doesNotMatch(shown, /ten\.txt|sub/);
    const chosen = [
      "large.bin",
      "ten.txt",
      "<img src=x onerror=alert(1)>.txt",
      "empty",
      ".hidden",
      "a\tb.txt",
    ];
    await guest.choose("#files", chosen.map((name) => `${files}/${name}`));
    await guest.choose("#folder", [`${files}/run 7`]);
    await guest.until("document.querySelectorAll('#uploads .up, #uploads .down').length === 8");
    assert.equal(way.state.cut, 2);
    const states = await guest.evaluate(
      "[...document.querySelectorAll('#uploads li')].map((li) => li.innerText.replace(/\\s+/g, ' ').trim()).sort()",
    );
    assert.deepEqual(states, [
      ".hidden Failed: Files and directories whose names begin with a dot cannot be uploaded here Try again Skip",
      "<img src=x onerror=alert(1)>.txt Done, verified",
      "a b.txt Failed: Invalid path: it contains control characters Try again Skip",
      "empty Done, verified",
      "large.bin Done, verified",
      "run 7/a.csv Done, verified",
      "run 7/figures/b.svg Done, verified",
      "ten.txt Done, saved as ten (2).txt, verified",
    ]);
    await look(guest, "uploaded");
    const there = `${sharing.data}/d`;
    assert.equal(await digestOf(`${there}/large.bin`), digest);
    assert.deepEqual([...(await tree(there)).keys()].toSorted(), [
      "<img src=x onerror=alert(1)>.txt",
      "empty",
      "large.bin",
      "run 7/a.csv",
      "run 7/figures/b.svg",
      "sub/x.dat",
      "ten (2).txt",
      "ten.txt",
    ]);
    assert.equal(await Deno.readTextFile(`${there}/ten.txt`), "0123456789");

    await owner.go(String(await owner.evaluate("location.href")));
    assert.match(await text(owner), /Someone with the link, 127\.0\.0\.1, uploaded large\.bin/);
    await look(owner, "used-share");
    await owner.send("Delete the link and its log of uses");
    const outgoing = await share(owner, "d", { access: "READ", days: "1" });
    const reader = await browser.open(outgoing, PHONE);
    await look(reader, "shared-folder");
    await reader.saveIn(files);
    await reader.evaluate(`[...document.links].find(({ search }) => search === "?view=zip").click()`);
    await until(() => Deno.stat(`${files}/d.zip`).then(() => true, () => false), { everyMs: 20 });
    await unpack(`${files}/d.zip`, `${files}/unpacked`);
    assert.deepEqual(await tree(`${files}/unpacked/d`), await tree(there));

    assert.match(await text(reader), /Download all as one \.zip file[^]*pyuftp cp/);
    await owner.send("Delete the link and its log of uses");

    // A share of a file for one use: opening its page is not a use.
    await owner.follow("New share");
    await owner.follow("d/");
    await owner.go(
      String(await owner.evaluate(`document.querySelector('[aria-label="Share ten.txt"]').href`)),
    );
    await owner.send("Share", { uses: "1", note: "Look first" });
    const once = String(await owner.evaluate("document.querySelector('#address').value"));
    const place = String(await owner.evaluate("location.href"));
    await owner.follow("View as recipient");
    for (const page of [owner, reader]) {
      if (page === reader) await reader.go(once);
      assert.match(
        await text(page),
        /ten\.txt\s+10 B\. Shared by Alice, until [^]*Look first\s+Download\s[^]*pyuftp cp/,
      );
    }
    await look(reader, "landing");
    await Deno.mkdir(`${files}/saved`);
    await reader.saveIn(`${files}/saved`);
    await reader.evaluate(
      "[...document.links].find(({ textContent }) => /^Download/.test(textContent)).click()",
    );
    const saved = () => Deno.readTextFile(`${files}/saved/ten.txt`).catch(() => "");
    await until(async () => await saved() === "0123456789");
    await owner.go(place);
    const log = await text(owner);
    assert.match(log, /You, 127\.0\.0\.1, looked at .*ten\.txt/);
    assert.match(log, /Someone with the link, 127\.0\.0\.1, downloaded .*ten\.txt/);
    assert.match(log, /Someone with the link, 127\.0\.0\.1, looked at .*ten\.txt/);
    for (const [page, link] of [[guest, incoming.href], [reader, outgoing], [guest, once]] as const) {
      await page.go(link);
      assert.match(await text(page), /ERR_SHARE_NOT_FOUND/);
    }
    assert.deepEqual(
      [owner, guest, reader].flatMap(({ complaints }) => complaints)
        .filter((complaint) => !/status of 40[049]|net::ERR_/.test(complaint)),
      [],
    );
    await Deno.remove(files, { recursive: true });
  },
});

Deno.test({
  name: "without scripts, everything works except resuming after a lost connection",
  ignore,
  fn: async () => {
    await using sharing = await SharingSystem.open();
    await using browser = await start();
    const owner = await signedIn(browser, sharing.origin, { scripts: false });
    const incoming = await share(owner, "d", { access: "DROP", days: "7", password: "pass word" });
    assert.equal(await owner.evaluate("document.querySelector('button[data-copy]').hidden"), true);
    assert.equal(
      await owner.evaluate("document.querySelector('svg.qr').getBoundingClientRect().width > 100"),
      true,
    );
    await owner.send("Change", { note: "Only text, please" });
    assert.match(await text(owner), /Only text, please/);

    const guest = await browser.open("about:blank", PHONE);
    await guest.runScripts(false);
    await guest.go(incoming);
    await lookWithoutScript(guest, "link-password");
    await guest.send("Open", { password: "wrong" });
    await lookWithoutScript(guest, "wrong-link-password");
    await guest.follow("Help");
    await lookWithoutScript(guest, "help");
    await guest.go(incoming);
    await guest.send("Open", { password: "pass word" });
    assert.match(await text(guest), /Only text, please[^]*Enable JavaScript/);
    assert.equal(await guest.evaluate("document.querySelector('#upload').hidden"), true);
    await lookWithoutScript(guest, "no-script");
    const file = await Deno.makeTempFile({ suffix: ".txt" });
    await Deno.writeTextFile(file, "uploaded without script");
    await guest.choose("#sent", [file]);
    await guest.send("Upload");
    assert.match(await text(guest), /1 file was uploaded/);
    await lookWithoutScript(guest, "uploads");
    const name = file.slice(file.lastIndexOf("/") + 1);
    assert.equal(await Deno.readTextFile(`${sharing.data}/d/${name}`), "uploaded without script");

    const link = await share(owner, "d", { access: "READ", days: "1" });
    await guest.go(link);
    for (const [step, expected] of [["Size", /ten\.txt/], ["Preview ten.txt", /0123456789/]] as const) {
      await guest.follow(step);
      assert.match(await text(guest), expected);
    }
    await owner.send("Delete the link and its log of uses");
    await guest.go(link);
    assert.match(await text(guest), /ERR_SHARE_NOT_FOUND/);
    await owner.send("Sign out");
    await Deno.remove(file);
  },
});
