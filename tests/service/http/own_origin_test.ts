import assert from "node:assert/strict";
import { HeaderList } from "../../../src/model/http_message.ts";
import { isHttpError } from "../../../src/model/http_error.ts";
import { checkOwnOrigin } from "../../../src/service/http/own_origin.ts";

const GATEWAY = "https://gateway.example.org/SITE";

Deno.test("checkOwnOrigin() takes what a page of this service has sent, at its known address or the one in use", () => {
  const taken: readonly Readonly<Record<string, string>>[] = [
    { "Sec-Fetch-Site": "same-origin" },
    { "Sec-Fetch-Site": "same-origin", Origin: "null" },
    { Origin: "https://gateway.example.org" },
    { Origin: "https://10.1.2.3:9000", Host: "10.1.2.3:9000" },
  ];
  for (const headers of taken) checkOwnOrigin(HeaderList.of(headers), GATEWAY);
});

Deno.test("checkOwnOrigin() refuses what another site, or who knows who, has sent", () => {
  const refusedOnes: readonly Readonly<Record<string, string>>[] = [
    {},
    { Host: "gateway.example.org" },
    { "Sec-Fetch-Site": "cross-site", Origin: "https://gateway.example.org" },
    { "Sec-Fetch-Site": "same-site" },
    { "Sec-Fetch-Site": "none" },
    { "Sec-Fetch-Site": "same-origin, same-origin" },
    { Origin: "null" },
    { Origin: "null", Host: "null" },
    { Origin: "http://gateway.example.org", Host: "gateway.example.org" },
    { Origin: "https://gateway.example.org:8443", Host: "gateway.example.org" },
    { Origin: "https://gateway.example.org.evil.example", Host: "gateway.example.org" },
    { Origin: "https://evil.example, https://gateway.example.org" },
    { Origin: "", Host: "" },
  ];
  for (const headers of refusedOnes) {
    const refused = (error: unknown) => isHttpError(error, "ERR_FOREIGN_PAGE");
    assert.throws(() => checkOwnOrigin(HeaderList.of(headers), GATEWAY), refused, JSON.stringify(headers));
  }
});
