/**
 * The yardstick of starts: a `node:https` server in a worker that answers everything with 200. Arguments: file of
 * certificate, of key, port.
 */
import { createServer } from "node:https";

if (import.meta.main) {
  const worker = new Worker(import.meta.url, { type: "module" });
  const [certificate = "", key = "", port = ""] = Deno.args;
  worker.postMessage({
    certificate: Deno.readTextFileSync(certificate),
    key: Deno.readTextFileSync(key),
    port: Number(port),
  });
} else {
  globalThis.addEventListener("message", ({ data: { certificate, key, port } }: MessageEvent) => {
    createServer({ cert: certificate, key }, (_request, response) => response.end("{}"))
      .listen(port, "127.0.0.1");
  });
}
