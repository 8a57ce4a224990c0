import { sessionAccount, startUftpd } from "../real/uftpd.ts";
import { createAuthority } from "../pki/authority.ts";
import { ALICE_DN, type Site } from "../system/running_service.ts";
import { createSharingSite } from "../system/sharing/sharing_system.ts";

/** Checkout of UFTPD; without it, only the simulator is measured. */
const CHECKOUT = Deno.env.get("UFTPD_CHECKOUT");

/** Daemon of a site: its ports, and the account that owns its files. */
export interface BenchDaemon {
  readonly commandPort: number;
  readonly listenPort: number;
  readonly user: string;
}

/** Site with data sharing, and its daemon. */
export interface SharingSite extends AsyncDisposable {
  readonly site: Site & { readonly data: string };
  readonly daemon: BenchDaemon;
  /** Creates a directory that the account owns. @returns Its path, without a trailing slash. */
  makeDirectory(name: string): Promise<string>;
}

/** Sites to measure, with a suffix for the names of their figures. */
export const SITES: readonly { readonly at: string; readonly make: () => Promise<SharingSite> }[] = [
  { at: "", make: simulatedSite },
  ...CHECKOUT === undefined ? [] : [{ at: ", at a UFTPD", make: () => realSite(CHECKOUT) }],
];

/** Writes a configuration with sharing in front of a simulated daemon. */
export async function simulatedSite(): Promise<SharingSite> {
  const site = await createSharingSite();
  const { commandPort, listenPort } = site.daemon();
  const daemon = { commandPort, listenPort, user: "alice" };
  return {
    site,
    daemon,
    makeDirectory: (name) => makeDirectory(site.data, name),
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
}

/** Writes a configuration in front of a UFTPD from a checkout. Sessions run as {@link sessionAccount}. */
async function realSite(checkout: string): Promise<SharingSite> {
  const folder = await Deno.makeTempDir({ prefix: "authserver-uftpd-" });
  const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
  const shown = authority.issue({ subject: "CN=UFTPD,O=Demo,C=EU" });
  const files = {
    "ca.pem": authority.certificate,
    "uftpd.pem": shown.certificate,
    "uftpd.key": shown.key,
    "uftpd.acl": "CN=AUTH,O=Demo,C=EU\n",
    "ssl.conf": `credential.key=${folder}/uftpd.key\ncredential.certificate=${folder}/uftpd.pem\n` +
      `truststore=${folder}/ca.pem\n`,
  };
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${folder}/${name}`, text, { mode: 0o600 });
  }
  const uftpd = await startUftpd(checkout, {
    folder,
    settings: { SSL_CONF: `${folder}/ssl.conf`, ACL: `${folder}/uftpd.acl`, MAX_CONNECTIONS: "1000" },
  });
  const account = sessionAccount();
  const user = account.username;
  const site = await createSharingSite({
    authority,
    map: { [ALICE_DN]: { role: "user", xlogin: user } },
    properties: {
      "authservice.server.HPC.host": "127.0.0.1",
      "authservice.server.HPC.port": String(uftpd.port),
      "authservice.server.HPC.commandHost": "127.0.0.1",
      "authservice.server.HPC.commandPort": String(uftpd.commandPort),
      "share.clientIP": "127.0.0.1",
    },
  });
  await Deno.chmod(site.data, 0o755);
  return {
    site,
    daemon: { commandPort: uftpd.commandPort, listenPort: uftpd.port, user },
    makeDirectory: (name) => makeDirectory(site.data, name, account),
    async [Symbol.asyncDispose]() {
      await uftpd[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

async function makeDirectory(
  data: string,
  name: string,
  account?: { readonly uid: number; readonly gid: number },
): Promise<string> {
  const path = `${data}/d/${name}`;
  await Deno.mkdir(path);
  if (account !== undefined && Deno.uid() === 0) await Deno.chown(path, account.uid, account.gid);
  return path;
}
