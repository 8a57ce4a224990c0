import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { SharingSystem } from "../system/sharing/sharing_system.ts";
import { Chromium, findChromium } from "./chromium.ts";
import { axeFindings, PAGE_CHECKS } from "./page_checks.ts";

const BROWSER = await findChromium();
const SCREENSHOTS = Deno.env.get("AUTHSERVER_SCREENSHOTS");

const MB = 1000 * 1000;
const SIZE = 200 * MB;

/** A way to the service that is cut when so many bytes have gone through it, one cut after the other. */
function cutting(port: number, cuts: number[]) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const state = { cut: 0 };
  const carry = async (from: Deno.Conn, to: Deno.Conn, passed: (bytes: number) => boolean) => {
    const buffer = new Uint8Array(64 * 1024);
    try {
      for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
        if (!passed(count)) break;
        for (let at = 0; at < count;) at += await to.write(buffer.subarray(at, count));
      }
    } catch {
      // One side is gone, and with it the other.
    }
    for (const end of [from, to]) {
      try {
        end.close();
      } catch {
        // closed already
      }
    }
  };
  const accepted = (async () => {
    for await (const client of listener) {
      const service = await Deno.connect({ hostname: "127.0.0.1", port });
      let bytes = 0;
      void carry(client, service, (count) => {
        bytes += count;
        const cut = cuts[0];
        if (cut === undefined || bytes < cut) return true;
        cuts.shift();
        state.cut++;
        return false;
      });
      void carry(service, client, () => true);
    }
  })();
  return {
    port: listener.addr.port,
    state,
    async [Symbol.asyncDispose]() {
      listener.close();
      await accepted;
    },
  };
}

/** A file that is not the same at any two places, and its digest. */
async function largeFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  using file = await Deno.open(path, { write: true, create: true });
  const block = new Uint32Array(MB / 4);
  for (let i = 0; i < SIZE / MB; i++) {
    for (let j = 0; j < block.length; j++) block[j] = Math.imul(i * block.length + j + 1, 2654435761);
    const bytes = new Uint8Array(block.buffer);
    hash.update(bytes);
    for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
  }
  return hash.digest("hex");
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  using file = await Deno.open(path);
  for await (const chunk of file.readable) hash.update(chunk);
  return hash.digest("hex");
}

Deno.test({
  name:
    "a browser brings 200 MB through a connection that is cut twice, byte for byte, and beside what is there",
  ignore: BROWSER === undefined,
  fn: async () => {
    await using sharing = await SharingSystem.open();
    await using way = cutting(sharing.system.port, [60 * MB, 50 * MB]);
    const files = await Deno.makeTempDir();
    const digest = await largeFile(`${files}/large.bin`);
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
      ".hidden Not possible: Files whose names begin with a dot cannot be brought here",
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
