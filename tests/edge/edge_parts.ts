import type { HttpsEdge } from "../../src/edge/https_edge.ts";
import type { Handler } from "../../src/model/http_message.ts";
import { type Logger, SILENT } from "../../src/logging/logger.ts";

type Parts = Parameters<typeof HttpsEdge.start>[1];

/** Returns the parts of an edge without a service; each address is its own group. */
export function partsWith(answer: Handler, log: Logger = SILENT): Parts {
  return { answer, log, groupOf: (address) => address };
}
