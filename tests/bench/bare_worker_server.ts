/**
 * The yardstick for starts: a `node:https` server in a worker that answers everything with 200. Arguments:
 * files of the certificate and the key, port. Prints the port on which it listens.
 */
import type { AddressInfo } from "node:net";
import { createServer } from "node:https";

// `import.meta.main` is true in the worker, too.
if (!("WorkerGlobalScope" in globalThis)) {
  const worker = new Worker(import.meta.url, { type: "module" });
  const [certificate = "", key = "", port = ""] = Deno.args;
  worker.postMessage({
    certificate: Deno.readTextFileSync(certificate),
    key: Deno.readTextFileSync(key),
    port: Number(port),
  });
} else {
  globalThis.addEventListener("message", ({ data: { certificate, key, port } }: MessageEvent) => {
    const server = createServer({ cert: certificate, key }, (_request, response) => response.end("{}"));
    server.listen(port, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      console.log(`listening on ${port}`);
    });
  });
}
