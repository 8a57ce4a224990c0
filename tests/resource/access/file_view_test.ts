import assert from "node:assert/strict";
import { imageType, isViewable } from "../../../src/resource/access/file_view.ts";

Deno.test("imageType() knows pictures that hold no scripts, and isViewable() texts besides", () => {
  assert.equal(imageType("a.b.PNG"), "image/png");
  assert.equal(imageType("x.jpeg"), "image/jpeg");
  for (const name of ["x.svg", "x.html", "png", "x.pdf", "x.png.exe", ""]) {
    assert.equal(imageType(name), undefined, name);
  }
  for (const name of ["table.CSV", "x.png", "notes.md", "page.html"]) assert(isViewable(name), name);
  for (const name of ["x.svgz", "x.bin", "Makefile", "x."]) assert(!isViewable(name), name);
});
