import assert from "node:assert/strict";
import { ROOT } from "../../bin/build/project.ts";
import { findChromium } from "./chromium.ts";
import { PICTURE, takePicture } from "./pictures.ts";

/** Of all pictures together, in bytes: the repository keeps every version of them. */
const MOST = 150 * 1024;

/** Width of a PNG in pixels. */
function widthOf(png: Uint8Array): number {
  assert.deepEqual([...png.subarray(1, 4)], [...new TextEncoder().encode("PNG")]);
  return new DataView(png.buffer, png.byteOffset).getUint32(16);
}

Deno.test("the README shows the picture, which is there and small", async () => {
  assert((await Deno.readTextFile(`${ROOT}/README.md`)).includes(`](${PICTURE})`));
  const folder = `${ROOT}/${PICTURE}`.replace(/\/[^/]*$/, "");
  let bytes = 0;
  for await (const { name } of Deno.readDir(folder)) {
    const picture = await Deno.readFile(`${folder}/${name}`);
    assert(widthOf(picture) >= 1000, name);
    bytes += picture.length;
  }
  assert(bytes > 10_000 && bytes <= MOST, `${bytes} bytes`);
});

const BROWSER = await findChromium();
Deno.test({
  name: "the picture can be taken of what the demo serves",
  ignore: BROWSER === undefined,
  async fn() {
    const picture = await takePicture(BROWSER ?? "");
    assert.equal(widthOf(picture), widthOf(await Deno.readFile(`${ROOT}/${PICTURE}`)));
    assert(picture.length > 10_000 && picture.length <= MOST, `${picture.length} bytes`);
  },
});
