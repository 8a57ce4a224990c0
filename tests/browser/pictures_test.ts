import assert from "node:assert/strict";
import { ROOT } from "../../bin/build/project.ts";
import { findChromium } from "./chromium.ts";
import { FOLDER, takePictures } from "./pictures.ts";

/** Largest size of all pictures together, in bytes: the repository keeps every version of them. */
const MOST = 360 * 1024;

/** Returns the width of a PNG, in pixels. */
function widthOf(png: Uint8Array): number {
  assert.deepEqual([...png.subarray(1, 4)], [...new TextEncoder().encode("PNG")]);
  return new DataView(png.buffer, png.byteOffset).getUint32(16);
}

Deno.test("README and manual show the pictures, which exist and are small", async () => {
  const readme = await Deno.readTextFile(`${ROOT}/README.md`);
  const guide = await Deno.readTextFile(`${ROOT}/docs/people_who_share.md`);
  let bytes = 0;
  for await (const { name } of Deno.readDir(`${ROOT}/${FOLDER}`)) {
    assert(readme.includes(`](${FOLDER}/${name})`), `${name} is not in the README`);
    const picture = await Deno.readFile(`${ROOT}/${FOLDER}/${name}`);
    assert(widthOf(picture) >= 1000, name);
    bytes += picture.length;
  }
  assert(guide.includes("](pictures/share-and-phones.png)"));
  assert(bytes > 10_000 && bytes <= MOST, `${bytes} bytes`);
});

const BROWSER = await findChromium();
Deno.test({
  name: "the pictures can be taken from the demo",
  ignore: BROWSER === undefined,
  async fn() {
    const pictures = await takePictures(BROWSER ?? "");
    let bytes = 0;
    for (const [name, picture] of Object.entries(pictures)) {
      assert.equal(widthOf(picture), widthOf(await Deno.readFile(`${ROOT}/${FOLDER}/${name}`)), name);
      bytes += picture.length;
    }
    assert(bytes > 10_000 && bytes <= MOST, `${bytes} bytes`);
  },
});
