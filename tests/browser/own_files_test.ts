/** Work of users with their own files, and the state of uploads on the page, in a real browser. */
import assert from "node:assert/strict";
import { until } from "../fixtures/deadline.ts";
import { ALICE, ALICE_DN } from "../system/running_service.ts";
import { largeFile } from "../system/sharing/large_file.ts";
import { BOB, BOB_DN, SharingSystem } from "../system/sharing/sharing_system.ts";
import {
  Chromium,
  findChromium,
  findWholeChromium,
  type Page,
  type SharedBrowser,
  sharedBrowser,
  type View,
} from "./chromium.ts";
import { look } from "./page_checks.ts";

const BROWSER = await findChromium();
if (BROWSER === undefined) {
  console.warn("No browser on this machine, My files is skipped: apt-get install chromium");
}
const ignore = BROWSER === undefined;
const WHOLE_BROWSER = await findWholeChromium();

const DESK = { width: 1280, scheme: "light" } as const;
const OPTIONS = {
  properties: { "container.feature.Files.enable": "true", "share.suggestPeople": "true" },
};

const PAINT = "1 0 0 rg 0 0 200 200 re f";
/** PDF with one page that is red all over. */
const PDF = [
  "%PDF-1.4",
  "1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj",
  "2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj",
  "3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R>> endobj",
  `4 0 obj <</Length ${PAINT.length}>> stream\n${PAINT}\nendstream endobj`,
  "trailer <</Root 1 0 R>>",
].join("\n");

/** Counts the red pixels of a page. @param eye Another page, whose content security policy permits images. */
async function redDots(page: Page, eye: Page): Promise<number> {
  const picture = (await page.screenshot()).toBase64();
  return Number(
    await eye.evaluate(`new Promise((resolve) => {
      const image = new Image();
      image.onload = () => {
        const canvas = document.createElement("canvas");
        const [width, height] = [canvas.width, canvas.height] = [image.width, image.height];
        const context = canvas.getContext("2d");
        context.drawImage(image, 0, 0);
        const { data } = context.getImageData(0, 0, width, height);
        let red = 0;
        for (let i = 0; i < data.length; i += 4) if (data[i] > 200 && data[i + 1] < 50 && data[i + 2] < 50) red++;
        resolve(red);
      };
      image.src = "data:image/png;base64,${picture}";
    })`),
  );
}

/** Script that counts simultaneous requests of a page, and requests for the offset of an upload. */
const COUNTING = `(() => {
  window.sent = { now: 0, most: 0, questions: 0 };
  const { send, setRequestHeader } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.setRequestHeader = function (name, value) {
    if (name === "Content-Range" && value.startsWith("bytes *")) sent.questions++;
    setRequestHeader.call(this, name, value);
  };
  XMLHttpRequest.prototype.send = function (body) {
    sent.most = Math.max(sent.most, ++sent.now);
    this.addEventListener("readystatechange", () => sent.now -= this.readyState === 4 ? 1 : 0);
    send.call(this, body);
  };
})(); true`;

/** Dropped folder, as the browser gives it, with an empty folder in it. */
const EMPTY_FOLDER = `(() => {
  const folder = (fullPath, ...content) => ({
    isFile: false,
    fullPath,
    createReader: () => ({ readEntries: (done) => done(content.splice(0)) }),
  });
  return { webkitGetAsEntry: () => folder("/new", folder("/new/deep")) };
})()`;

const linkTexts = "[...document.links].map(({ textContent }) => textContent)";

const FLAGS = ["--ignore-certificate-errors", "--accept-lang=en-US"];
const start = sharedBrowser(BROWSER, FLAGS);

const text = async (page: Page) => String(await page.evaluate("document.body.innerText"));

/** Returns the text of the page for each file, with buttons. */
const states = (page: Page) =>
  page.evaluate(
    "[...document.querySelectorAll('#uploads li')].map((li) => li.innerText.replace(/\\s+/g, ' ').trim()).sort()",
  );

const over = (count: number) =>
  `document.querySelectorAll('#uploads .up, #uploads .down').length === ${count}`;

async function signedIn(
  browser: SharedBrowser,
  origin: string,
  button = "Sign in",
  [user, password] = ALICE as readonly [string, string],
  view: View = DESK,
): Promise<Page> {
  const page = await browser.open(`${origin}/login`, view);
  await page.send(button, { user, password });
  return page;
}

Deno.test({
  name: "a user finds their files, uploads a folder, creates, renames, previews, shares and deletes",
  ignore,
  fn: async () => {
    await using sharing = await SharingSystem.open(OPTIONS);
    const files = await Deno.makeTempDir();
    await Deno.mkdir(`${files}/run 7/deep`, { recursive: true });
    await Deno.writeTextFile(`${files}/run 7/.DS_Store`, "x");
    await Deno.writeTextFile(`${files}/run 7/deep/Thumbs.db`, "x");
    await Deno.writeTextFile(`${files}/run 7/deep/<b>.csv`, "1,2");
    for (let i = 0; i < 30; i++) await Deno.writeTextFile(`${files}/run 7/${i}.txt`, `file ${i}`);
    await Deno.writeTextFile(`${sharing.data}/d/paper.pdf`, PDF);
    await Deno.writeTextFile(`${sharing.data}/d/empty.txt`, "");
    await Deno.writeFile(`${sharing.data}/d/data.bin`, new Uint8Array(100));
    await using browser = await start();
    const page = await signedIn(browser, sharing.origin);
    await page.follow("Files");
    assert.equal(await page.evaluate("document.querySelector('[aria-current]').textContent"), "Files");
    await look(page, "files");
    await page.follow("HPC");
    await page.follow("d/");
    await look(page, "own-directory");
    const previews = (await page.evaluate(linkTexts) as string[]).filter((text) => /^Preview /.test(text));
    assert.deepEqual(previews, ["Preview paper.pdf", "Preview ten.txt"], "none of empty and binary files");
    await page.evaluate(COUNTING);
    await page.choose("#folder", [`${files}/run 7`]);
    await page.until(over(31));
    assert.deepEqual(await page.evaluate("sent"), { now: 0, most: 4, questions: 0 });
    assert.ok(
      Number(await page.evaluate("document.querySelector('#uploads').scrollTop")) > 0,
      "the running one",
    );
    for (const state of await states(page) as string[]) assert.match(state, / Done, verified$/);
    // The page shows the totals in the next frame.
    const total = "/31 of 31 files .*hidden system files skipped: 2/";
    await page.until(`${total}.test(document.querySelector('#total').innerText)`);
    await look(page, "own-uploads");
    assert.equal(await Deno.readTextFile(`${sharing.data}/d/run 7/deep/<b>.csv`), "1,2");

    await page.send("New directory", { name: "results" });
    assert.match(await page.evaluate("location.pathname") as string, /\/d\/results\/$/);
    await page.follow("d");
    await page.follow("run 7/");
    await page.saveIn(files);
    await page.evaluate("[...document.links].find(({ textContent }) => textContent === '1.txt').click()");
    await until(() => Deno.readTextFile(`${files}/1.txt`).then((text) => text === "file 1", () => false));
    await page.evaluate("[...document.links].find(({ search }) => search === '?view=zip').click()");
    await until(() => Deno.stat(`${files}/run 7.zip`).then(() => true, () => false));
    await page.follow("Preview 0.txt");
    assert.match(await text(page), /file 0/);
    await page.follow("Actions");
    await look(page, "actions");
    await page.send("Rename or move", { to: `${sharing.data}/d/results/zero.txt` });
    assert.match(await text(page), /zero\.txt/);
    assert.equal(await Deno.readTextFile(`${sharing.data}/d/results/zero.txt`), "file 0");
    await page.follow("d");
    await page.follow("run 7/");
    await page.follow("Actions");
    assert.match(await text(page), /Delete …/);
    await page.evaluate("document.querySelector('details.danger').open = true");
    assert.match(await text(page), /with 30 files and 1 directory in it/);
    await look(page, "deletion");
    await page.send("Delete the directory run 7 and everything in it");
    await assert.rejects(Deno.stat(`${sharing.data}/d/run 7`));
    await page.follow("results/");
    await page.follow("Actions");
    await page.follow("Share");
    assert.equal(await page.evaluate("document.querySelector('#path').value"), `${sharing.data}/d/results/`);
    const suggested = "(({ value, label }) => [value, label])(document.querySelector('#people option'))";
    assert.match(String(await page.evaluate(suggested)), /^CN=Alice[^"]*,Alice/);
    await page.send("Share", { user: BOB_DN });
    const address = String(await page.evaluate("document.querySelector('#address').value"));
    assert.match(address, /\/shared\/HPC\/\w+\/$/, "people sign in on a page");
    assert.deepEqual(page.complaints, []);
    await Deno.remove(files, { recursive: true });
  },
});

Deno.test({
  name: "the browser shows a PDF as preview, and returns from an error to the filled-in form",
  ignore: WHOLE_BROWSER === undefined,
  fn: async () => {
    await using sharing = await SharingSystem.open(OPTIONS);
    await Deno.writeTextFile(`${sharing.data}/d/paper.pdf`, PDF);
    await using browser = await Chromium.start(WHOLE_BROWSER ?? "", FLAGS);
    const page = await signedIn(browser, sharing.origin);
    await page.go(`${sharing.origin}/files/HPC${sharing.data}/d/`);
    await page.follow("Preview paper.pdf");
    assert.equal(await page.evaluate("document.contentType"), "application/pdf");
    const eye = await browser.open("about:blank", DESK);
    const preview = String(await page.evaluate("location.href"));
    const drawn = () =>
      until(async () => await redDots(page, eye) > 10_000, {
        what: "the content of the PDF",
        everyMs: 250, // each picture takes processor time
        withinMs: 30_000,
      });
    // On a busy machine, the browser's PDF viewer sometimes stays empty until the page is reloaded.
    await drawn().catch(async () => {
      await page.go(preview);
      await drawn();
    });
    // For a PDF, the browser asks for an icon.
    assert.deepEqual(page.complaints.filter((complaint) => !complaint.includes("/favicon.ico")), []);

    const path = encodeURIComponent(`${sharing.data}/d/ten.txt`);
    await page.go(`${sharing.origin}/shares/HPC/new?path=${path}`);
    await page.send("Share", { group: "no-such-group", uses: "1", note: "Look first" });
    assert.match(await text(page), /The server does not know this group/);
    await page.evaluate("document.querySelector('a[data-back]').click()");
    const kept = "['note', 'uses', 'group'].map((name) => document.querySelector(`[name=${name}]`)?.value)";
    await until(async () => String(await page.evaluate(kept)) === "Look first,1,no-such-group");
    await page.send("Share", { group: "" });
    const address = String(await page.evaluate("document.querySelector('#address').value"));
    await page.go(address);
    assert.match(await text(page), /ten\.txt\s+10 B\. Shared by Alice, until [^]*Look first\s+Download/);

    await page.go(`${sharing.origin}/files/HPC${sharing.data}/d/`);
    await page.evaluate(
      `document.ondrop({ preventDefault() {}, dataTransfer: { items: [${EMPTY_FOLDER}] } })`,
    );
    const note = "Not uploaded: the folder is empty";
    assert.deepEqual(await states(page), [`new/deep ${note}`]);
    assert.equal(await page.evaluate("document.querySelector('#news').textContent"), `new/deep: ${note}`);
    await page.evaluate(`(() => {
      document.querySelector("#directory-name").value = "once";
      const button = document.querySelector("button[value=make]");
      button.click();
      setTimeout(() => button.click(), 5);
    })()`);
    await until(async () => /^(?:once|A file)/.test(String(await page.evaluate("document.title"))));
    assert.equal(await page.evaluate("document.title"), "once", "a double click sends a form once");

    const actions = `${sharing.origin}/files/HPC${sharing.data}/d/ten.txt?view=actions`;
    await page.go(actions);
    await Deno.writeTextFile(`${sharing.data}/d/ten.txt`, "0123");
    await page.send("Delete the file ten.txt");
    assert.match(await text(page), /The content has changed/);
    // Not from the browser's memory, with the former content.
    await page.evaluate("[...document.links].find((link) => link.textContent === 'Back').click()");
    const shown = async () => String(await page.evaluate("document.body.textContent").catch(() => ""));
    await until(async () => /ten\.txt \(4 B\) for good/.test(await shown()));
    await page.send("Delete the file ten.txt");
    await until(() => Deno.stat(`${sharing.data}/d/ten.txt`).then(() => false, () => true));
  },
});

/** Script that answers requests for some files with 502, as a proxy of a stopped service, or with 507. */
const FAILING = `(() => {
  window.failing = true;
  window.asked = 0;
  const open = XMLHttpRequest.prototype.open;
  XMLHttpRequest.prototype.open = function (method, url) {
    if (failing && /bad|full/.test(url)) {
      if (url.includes("full")) asked++;
      Object.defineProperty(this, "status", { get: () => url.includes("full") ? 507 : 502 });
      Object.defineProperty(this, "responseText", { get: () => '{"errorMessage":"out of order"}' });
      return open.call(this, "GET", location.href);
    }
    return open.call(this, method, url);
  };
})(); true`;

Deno.test({
  name: "a failed upload shows why and blocks no other; pausing, skipping, choosing again after a reload",
  ignore,
  fn: async () => {
    await using sharing = await SharingSystem.open(OPTIONS);
    const files = await Deno.makeTempDir();
    await largeFile(`${files}/large.bin`, 40_000_000);
    const names = ["bad too.txt", "bad.txt", "full.txt", "good.txt"];
    for (const name of names) await Deno.writeTextFile(`${files}/${name}`, name);
    await using browser = await start();
    const page = await signedIn(browser, sharing.origin);
    await page.go(`${sharing.origin}/files/HPC${sharing.data}/d/`);
    await page.evaluate(FAILING);
    const stops = "document.querySelector('#uploads').tabIndex";
    assert.equal(await page.evaluate(stops), -1, "nothing to reach by keyboard yet");
    await page.choose("#files", names.map((name) => `${files}/${name}`));
    await page.until(over(4));
    assert.deepEqual(await states(page), [
      "bad too.txt Failed: out of order Try again Skip",
      "bad.txt Failed: out of order Try again Skip",
      "full.txt Failed: out of order Try again Skip",
      "good.txt Done, verified",
    ]);
    assert.equal(await page.evaluate(stops), 0);
    assert.equal(await page.evaluate("asked"), 1, "a full disk is no matter of trying");
    const button = (says: string) =>
      `[...document.querySelectorAll("button")].find((each) => each.textContent === ${JSON.stringify(says)})`;
    for (const name of ["bad.txt", "full.txt"]) {
      await page.evaluate(`document.querySelector('[aria-label="Skip: ${name}"]').focus()`);
      await page.evaluate("document.activeElement.click()");
      assert.equal(
        await page.evaluate("document.activeElement.id"),
        "uploads",
        "the focus stays in the list",
      );
    }
    assert.match(String(await states(page)), /bad\.txt Skipped,full\.txt Skipped/);
    await page.evaluate("failing = false");
    await page.evaluate(`document.querySelector('[aria-label="Try again: bad too.txt"]').click()`);
    await page.until("document.querySelectorAll('#uploads .up').length === 2");
    assert.match(String(await states(page)), /bad too\.txt Done, verified/);
    assert.match(String(await page.evaluate("document.querySelector('#news').textContent")), /ended/);

    // The page itself clicks as soon as possible: a fast machine uploads the file almost at once.
    await page.evaluate(`(function pause() {
      const found = ${button("Pause all")};
      if (found === undefined) setTimeout(pause, 0);
      else found.click();
    })()`);
    await page.choose("#files", [`${files}/large.bin`]);
    await page.until(`${button("Resume all")} !== undefined`);
    await page.evaluate(`document.querySelector('[aria-label="Pause: large.bin"]').focus()`);
    await page.evaluate("document.activeElement.click()");
    assert.equal(await page.evaluate("document.activeElement.ariaLabel"), "Resume: large.bin");
    assert.match(String(await states(page)), /large\.bin Paused Resume/);
    await page.go(`${sharing.origin}/files/HPC${sharing.data}/d/`);
    assert.match(await text(page), /Choose the files again to resume: large\.bin/);
    await page.choose("#files", [`${files}/large.bin`]);
    await page.until(over(1));
    assert.deepEqual(await states(page), ["large.bin Done, verified"]);
    await Deno.remove(files, { recursive: true });
  },
});

/** Script that makes the page act a thousand times as often, and records its questions about the sign-in. */
const HURRYING = `(() => {
  window.answers = [];
  const [later, ask] = [setInterval, fetch];
  window.setInterval = (act, ms) => later(act, ms / 1000);
  window.fetch = async (...asked) => {
    const answer = await ask(...asked);
    answers.push(new URL(asked[0]).pathname + " " + answer.type);
    return answer;
  };
})(); true`;

Deno.test({
  name: "a running upload keeps the browser signed in; after a sign-out, the page says what to do",
  ignore,
  fn: async () => {
    await using sharing = await SharingSystem.open(OPTIONS);
    const files = await Deno.makeTempDir();
    await largeFile(`${files}/large.bin`, 40_000_000);
    await Deno.writeTextFile(`${files}/late.txt`, "x");
    await using browser = await start();
    const page = await signedIn(browser, sharing.origin);
    await page.go(`${sharing.origin}/files/HPC${sharing.data}/d/`);
    await page.evaluate(HURRYING);
    await page.choose("#files", [`${files}/large.bin`]);
    await page.until(over(1));
    // A redirect to the status page: the browser is signed in.
    assert.equal(await page.evaluate("answers[0]"), "/login opaqueredirect");
    const form = "document.querySelector('form[action$=\"/logout\"]')";
    await page.evaluate(
      `fetch(${form}.action, { method: "POST", body: new URLSearchParams(new FormData(${form})) })`,
    );
    await page.choose("#files", [`${files}/late.txt`]);
    await page.until(over(2));
    assert.match(
      String(await states(page)),
      /late\.txt Failed: your sign-in has ended; sign in, open this page again and choose the files again/,
    );
    await Deno.remove(files, { recursive: true });
  },
});

/** Drops a directory that the browser cannot read, and then a file: root, under which tests can run, reads everything. */
const DROPPING = `document.ondrop({
  preventDefault() {},
  dataTransfer: {
    items: [
      {
        fullPath: "/run/closed",
        createReader: () => ({ readEntries: (_, failed) => failed(new DOMException("", "NotReadableError")) }),
      },
      { fullPath: "/open.txt", isFile: true, file: (done) => done(new File(["x"], "open.txt")) },
    ].map((entry) => ({ webkitGetAsEntry: () => entry })),
  },
})`;

Deno.test({
  name: "the page uploads dropped files, and shows a dropped directory that the browser cannot read",
  ignore,
  fn: async () => {
    await using sharing = await SharingSystem.open(OPTIONS);
    await using browser = await start();
    const page = await signedIn(browser, sharing.origin);
    await page.go(`${sharing.origin}/files/HPC${sharing.data}/d/`);
    await page.evaluate(DROPPING);
    await page.until(over(2));
    const closed = "run/closed Failed: your browser cannot read it";
    assert.deepEqual(await states(page), ["open.txt Done, verified", closed]);
    assert.equal(await Deno.readTextFile(`${sharing.data}/d/open.txt`), "x");
    assert.deepEqual(page.complaints, []);
  },
});

Deno.test({
  name: "after an error or the end of the sign-in, a form has what its reader typed, but nobody else's",
  ignore,
  fn: async () => {
    await using sharing = await SharingSystem.open(OPTIONS);
    await using browser = await start();
    const page = await signedIn(browser, sharing.origin);
    const form = `${sharing.origin}/shares/HPC/new?path=${encodeURIComponent(`${sharing.data}/d/`)}`;
    const lose = async () => {
      await page.go(form);
      await page.forgetCookies();
      await page.send("Share", { note: "Dear Bob", uses: "3", access: "DROP", password: "secret" });
      assert.match(await text(page), /You are not signed in, so the service did not do/);
    };
    const typed = `["note", "uses", "access", "password"].map((name) =>
      document.querySelector("main form").elements[name].value)`;
    await lose();
    await page.send("Sign in", { user: ALICE[0], password: "wrong" });
    await page.until("document.activeElement.name === 'password'");
    await page.send("Sign in", { password: ALICE[1] });
    assert.equal(await page.evaluate("location.href"), form);
    assert.deepEqual(await page.evaluate(typed), ["Dear Bob", "3", "DROP", ""]);
    await page.go(form);
    assert.deepEqual(await page.evaluate(typed), ["", "", "READ", ""], "only once");
    // This browser forgets fields without autocompletion when it goes back.
    await page.send("Share", { user: "nobody", note: "Dear Carol" });
    assert.match(await text(page), /The recipient must be a distinguished name/);
    await page.follow("Back");
    assert.deepEqual(await page.evaluate(typed), ["Dear Carol", "", "READ", ""]);
    await lose();
    await page.send("Sign in", { user: BOB[0], password: BOB[1] });
    assert.doesNotMatch(String(await page.evaluate("document.documentElement.outerHTML")), /Dear Bob/);
    assert.equal(await page.evaluate("sessionStorage.length"), 0);
    assert.deepEqual(page.complaints.filter((each) => !/status of 40[03]/.test(each)), []);
  },
});

Deno.test({
  name: "pages use the reader's language and time zone; without scripts, UTC",
  ignore,
  fn: async () => {
    await using sharing = await SharingSystem.open(OPTIONS);
    await using browser = await start();
    {
      const page = await signedIn(browser, sharing.origin, "Se connecter", ALICE, {
        ...DESK,
        language: "fr-FR",
      });
      assert.equal(await page.evaluate("document.documentElement.lang"), "fr");
      assert.match(await text(page), /Connecté en tant que alice/);
      await page.follow("Fichiers");
      await page.follow("HPC");
      assert.match(await text(page), /1 élément[^]*Modifié/);
      assert.deepEqual(page.complaints, []);
    }
    const page = await signedIn(browser, sharing.origin, "Anmelden", ALICE, { ...DESK, language: "de-DE" });
    assert.equal(await page.evaluate("document.documentElement.lang"), "de");
    assert.match(await text(page), /Angemeldet als alice/);
    const shown = "document.querySelector('dd time').textContent";
    assert.doesNotMatch(String(await page.evaluate(shown)), /UTC/);
    await page.follow("Dateien");
    await page.follow("HPC");
    assert.match(await text(page), /1 Eintrag[^]*Geändert/);
    await page.show({ width: 360, scheme: "light" });
    const actions = "[...document.querySelectorAll('td a')].at(-1)";
    assert.deepEqual(
      await page.evaluate(`[${actions}.textContent, ${actions}.getClientRects().length]`),
      ["Aktionen", 1],
      "in one line, on a telephone, too",
    );
    await page.runScripts(false);
    await page.go(`${sharing.origin}/`);
    assert.match(String(await page.evaluate(shown)), /^\d{4}-\d\d-\d\d \d\d:\d\d UTC$/);
    assert.deepEqual(page.complaints, []);
  },
});

Deno.test({
  name: "My files shows only what the map permits, and is absent unless the site enables it",
  ignore,
  fn: async () => {
    const map = {
      [ALICE_DN]: { role: "user", xlogin: "alice", "uftpd.HPC.excludes": "d/secret/*" },
      [BOB_DN]: { xlogin: "alice" }, // without a role, Bob may sign in, but not open sessions
    };
    await using browser = await start();
    {
      await using sharing = await SharingSystem.open({ ...OPTIONS, map });
      await Deno.mkdir(`${sharing.data}/d/secret`);
      await Deno.writeTextFile(`${sharing.data}/d/secret/key`, "x");
      const page = await signedIn(browser, sharing.origin);
      await page.go(`${sharing.origin}/files/HPC${sharing.data}/d/`);
      assert.match(await text(page), /ten\.txt/);
      await page.go(`${sharing.origin}/files/HPC${sharing.data}/d/secret/`);
      assert.doesNotMatch(await text(page), /key/);
      await page.go(`${sharing.origin}/files/HPC${sharing.data}/d/secret/key`);
      assert.match(await text(page), /ERR_NOT_FOUND/);
      const files = await Deno.makeTempDir();
      await Deno.mkdir(`${files}/secret`);
      await Deno.writeTextFile(`${files}/secret/new`, "x");
      await page.go(`${sharing.origin}/files/HPC${sharing.data}/d/`);
      await page.choose("#folder", [`${files}/secret`]);
      await page.until(over(1));
      assert.match(String(await states(page)), /^secret\/new Failed: /);
      await assert.rejects(Deno.stat(`${sharing.data}/d/secret/new`));
      await page.go(`${sharing.origin}/files/HPC${sharing.data}/d/`);
      assert.doesNotMatch(await text(page), /incomplete/, "nothing can be resumed");
      await Deno.remove(files, { recursive: true });
      const other = await signedIn(browser, sharing.origin, "Sign in", BOB);
      await other.go(`${sharing.origin}/files/HPC${sharing.data}/d/`);
      assert.match(await text(other), /You may not do this/);
    }
    await using closed = await SharingSystem.open();
    const page = await signedIn(browser, closed.origin);
    assert.ok(!(await page.evaluate(linkTexts) as string[]).includes("Files"));
    await page.go(`${closed.origin}/files`);
    assert.match(await text(page), /This address was not found/);
  },
});
