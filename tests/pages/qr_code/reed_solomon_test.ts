import assert from "node:assert/strict";
import { correctionCodewords } from "../../../src/pages/qr_code/reed_solomon.ts";

Deno.test("correctionCodewords() gives those of the example in ISO/IEC 18004, annex I", () => {
  const data = Uint8Array.fromHex("10200c566180ec11ec11ec11ec11ec11");
  assert.equal(correctionCodewords(data, 10).toHex(), "a524d4c1ed36c7872c55");
});
