import assert from "node:assert/strict";
import { HttpError } from "../../../src/model/http_error.ts";
import { HeaderList } from "../../../src/model/http_message.ts";
import { destinationOf } from "../../../src/resource/dav/dav_target.ts";
import { call, server, serversOf } from "../sample_call.ts";

/** Returns the path of a destination for a request to the server HPC, or the code of the refusal. */
function found(Destination: string): string {
  const asked = call("HPC", serversOf(server("HPC", { up: true })));
  const headers = HeaderList.of({ Host: "behind:8080", Destination });
  try {
    return destinationOf({ ...asked, request: { ...asked.request, headers }, base: "https://h/site" });
  } catch (error) {
    assert.ok(error instanceof HttpError, String(error));
    return error.code;
  }
}

Deno.test("destinationOf() accepts addresses on the server of the request, in front of and behind a gateway", () => {
  for (
    const start of [
      "/site/dav/HPC/",
      "/dav/HPC/",
      "https://h/site/dav/HPC/",
      "https://H/dav/HPC-1/",
      "http://behind:8080/dav/HPC/",
    ]
  ) {
    assert.equal(found(`${start}a/b%20c`), "a/b%20c", start);
  }
});

Deno.test("destinationOf() refuses other addresses", () => {
  for (
    const other of [
      "https://h:444/dav/HPC/a",
      "https://evil/dav/HPC/a",
      "https://h@evil/dav/HPC/a",
      "/dav/OTHER/a",
      "/rest/HPC/a",
      "/",
    ]
  ) {
    assert.equal(found(other), "ERR_OTHER_SERVER", other);
  }
  for (const wrong of ["", "a", "/dav/HPC/a?b", "/dav/HPC/../a", "file:///dav/HPC/a"]) {
    assert.equal(found(wrong), "ERR_INVALID_REQUEST", wrong);
  }
});
