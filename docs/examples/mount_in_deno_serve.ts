/** The Auth service in a host that listens with `Deno.serve`. */
import { mountService } from "../../src/service/mount.ts"; // in your project: "authserver/service"

/** What the host brings: its TLS, and where it listens. */
export interface Host {
  readonly configuration: string;
  readonly certificate: string;
  readonly key: string;
  readonly port: number;
}

export async function serveWithDeno({ configuration, certificate, key, port }: Host) {
  const auth = await mountService({ configuration });
  const server = Deno.serve(
    { hostname: "127.0.0.1", port, cert: certificate, key, onListen: () => {} },
    (request, { remoteAddr }) => auth.handle(request, { address: remoteAddr.hostname }),
  );
  return {
    port: server.addr.port,
    async close() {
      await server.shutdown();
      await auth.close();
    },
  };
}
