import assert from "node:assert/strict";
import { formatDuration } from "../../../src/command/running/status_text.ts";

Deno.test("formatDuration() shows the two greatest units", () => {
  const shown = [0, 59, 60, 3661, 90_061, 864_000].map(formatDuration);
  assert.deepEqual(shown, ["0 s", "59 s", "1 min 0 s", "1 h 1 min", "1 d 1 h", "10 d 0 h"]);
});
