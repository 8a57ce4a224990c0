import assert from "node:assert/strict";
import { cutting } from "../system/sharing/cut_way.ts";
import { digestOf, largeFile } from "../system/sharing/large_file.ts";
import { SharingSystem } from "../system/sharing/sharing_system.ts";
import { Chromium, findChromium } from "./chromium.ts";
import { axeFindings, PAGE_CHECKS } from "./page_checks.ts";

const BROWSER = await findChromium();
const SCREENSHOTS = Deno.env.get("AUTHSERVER_SCREENSHOTS");

const MB = 1000 * 1000;

Deno.test({
  name:
    "a browser brings 200 MB through a connection that is cut twice, byte for byte, and beside what is there",
  ignore: BROWSER === undefined,
  fn: async () => {
    await using sharing = await SharingSystem.open();
    await using way = cutting(sharing.system.port, [60 * MB, 50 * MB]);
    const files = await Deno.makeTempDir();
    const digest = await largeFile(`${files}/large.bin`, 200 * MB);
    await Deno.writeTextFile(`${files}/ten.txt`, "another ten");
    await Deno.writeTextFile(`${files}/<img src=x onerror=alert(1)>.txt`, "hostile");
    await Deno.writeTextFile(`${files}/empty`, "");
    await Deno.writeTextFile(`${files}/.hidden`, "x");
    const id = await sharing.share("d", {
      access: "DROP",
      lifetime: 864000,
      note: "Raw <b>data</b>, please",
      maxFiles: 10,
    });
    await using browser = await Chromium.start(BROWSER ?? "", ["--ignore-certificate-errors"]);
    const url = `https://localhost:${way.port}/rest/access/HPC/${id}`;
    const page = await browser.open(url, { width: 360, scheme: "light" });
    assert.deepEqual(await page.evaluate(PAGE_CHECKS), []);
    assert.deepEqual(await axeFindings(page), []);
    const shown = String(await page.evaluate("document.body.innerText"));
    for (
      const expected of [/Files for\s+d/, /Shared by/, /Raw <b>data<\/b>, please/, /10 more files/, /curl -T/]
    ) {
      assert.match(shown, expected);
    }
    assert.doesNotMatch(shown, /ten\.txt|sub/);
    await page.choose(
      "#files",
      ["large.bin", "ten.txt", "<img src=x onerror=alert(1)>.txt", "empty", ".hidden"].map((name) =>
        `${files}/${name}`
      ),
    );
    await page.until("document.querySelectorAll('#brought .up, #brought .down').length === 5");
    assert.equal(way.state.cut, 2);
    const states = await page.evaluate(
      "[...document.querySelectorAll('#brought li')].map((li) => li.innerText.replace(/\\s+/g, ' ').trim())",
    );
    assert.deepEqual(states, [
      "large.bin Done",
      "ten.txt Done, kept as ten (2).txt",
      "<img src=x onerror=alert(1)>.txt Done",
      "empty Done",
      ".hidden Not possible: Files and directories whose names begin with a dot cannot be brought here",
    ]);
    assert.deepEqual(await page.evaluate(PAGE_CHECKS), []);
    assert.deepEqual(await axeFindings(page), []);
    if (SCREENSHOTS !== undefined) {
      await Deno.writeFile(`${SCREENSHOTS}/upload-360-light.png`, await page.screenshot());
    }
    assert.equal(await digestOf(`${sharing.data}/d/large.bin`), digest);
    const names = Array.from(Deno.readDirSync(`${sharing.data}/d`), ({ name }) => name).toSorted();
    assert.deepEqual(names, [
      "<img src=x onerror=alert(1)>.txt",
      "empty",
      "large.bin",
      "sub",
      "ten (2).txt",
      "ten.txt",
    ]);
    assert.equal(await Deno.readTextFile(`${sharing.data}/d/ten.txt`), "0123456789");
    assert.deepEqual(
      page.complaints.filter((text) => !/status of 400|net::ERR_|status of 409/.test(text)),
      [],
    );
    await Deno.remove(files, { recursive: true });
  },
});
