import assert from "node:assert/strict";
import { imageType, inlineType, previewQuery } from "../../../src/resource/access/file_view.ts";

Deno.test("imageType() accepts pictures without scripts, and previewQuery() also texts and PDF", () => {
  assert.equal(imageType("a.b.PNG"), "image/png");
  assert.equal(imageType("x.jpeg"), "image/jpeg");
  for (const name of ["x.svg", "x.html", "png", "x.pdf", "x.png.exe", ""]) {
    assert.equal(imageType(name), undefined, name);
  }
  assert.equal(inlineType("x.PDF"), "application/pdf");
  assert.equal(inlineType("x.svg"), undefined);
  for (const name of ["table.CSV", "x.png", "notes.md", "page.html"]) {
    assert.equal(previewQuery(name, 1), "view=preview", name);
    assert.equal(previewQuery(name, 0), undefined, `${name}, empty`);
  }
  assert.equal(previewQuery("x.pdf", 1), "view=inline");
  for (const name of ["x.svgz", "x.bin", "x.dat", "x.out", "Makefile", "x."]) {
    assert.equal(previewQuery(name, 1), undefined, name);
  }
});
