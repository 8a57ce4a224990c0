import type { DaemonOptions } from "../daemon_simulator/daemon.ts";
import { publicKeyWords } from "../authentication/ssh_key/user_keys.ts";
import { until } from "../fixtures/deadline.ts";
import { freePort } from "../fixtures/free_port.ts";
import { ask } from "../system/ask.ts";
import {
  ALICE,
  ALICE_DN,
  createSite,
  MAP,
  PASSWORDS,
  type Setting,
  type Site,
} from "../system/running_service.ts";
import { ChildProcess } from "./child_process.ts";
import { engineFlags } from "./program.ts";

/** Credentials of the measurements. */
export const BASIC = `Basic ${btoa(ALICE.join(":"))}`;

/** Service in its own process, in front of simulated daemons in this process. */
export interface BenchSite extends AsyncDisposable {
  readonly site: Site;
  readonly process: ChildProcess;
  /** Base address of the service. */
  readonly url: string;
  readonly port: number;
}

const MAIN = new URL("../../main.ts", import.meta.url);

/** Starts a service that knows alice by password and SSH key, and waits for its first good answer. */
export async function startBenchSite(setting: Setting = {}): Promise<BenchSite> {
  const port = freePort();
  const site = await createSite({
    servers: { HPC: [ENDLESS] },
    passwords: PASSWORDS,
    map: JSON.stringify(MAP),
    ...setting,
    properties: {
      "container.port": String(port),
      "container.httpServer.maxConnections": "4096", // the default; other test sites have less
      "container.security.rest.authentication.order": "PASSWORD SSHKEY",
      "container.security.rest.authentication.SSHKEY.file": "{folder}/conf/ssh-keys.txt",
      "container.security.rest.authentication.SSHKEY.useAuthorizedKeys": "false",
      ...setting.properties,
    },
  });
  try {
    const [type, blob] = publicKeyWords("user_ed25519");
    await site.replace("conf/ssh-keys.txt", `alice:${type} ${blob}:${ALICE_DN}\n`);
    return await serve(site, port);
  } catch (error) {
    await site[Symbol.asyncDispose]();
    throw error;
  }
}

/** Daemon that never runs out of sessions: the largest limit that the service accepts from a daemon. */
export const ENDLESS: DaemonOptions = { maxSessions: 999_999_999 };

/** Settings that add shares to a site; files lie below `data/`. */
export const SHARING: Setting = {
  properties: { "share.servers": "HPC", "persistence.directory": "{folder}/data" },
};

async function serve(site: Site, port: number): Promise<BenchSite> {
  const { process } = await ChildProcess.start(
    MAIN,
    ["serve", "--config", site.main],
    /^\*{5} Server started\. \*{5}$/m, // printed at every log level
    await engineFlags(),
  );
  const url = `https://127.0.0.1:${port}`;
  await firstAnswer(url, site);
  return {
    site,
    process,
    url,
    port,
    async [Symbol.asyncDispose]() {
      await process[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
    },
  };
}

/** Repeats a request until the core answers and knows the status of every daemon. */
async function firstAnswer(url: string, site: Site): Promise<void> {
  await until(async () => {
    const { status, text } = await ask(`${url}/rest/auth`, site.authority.certificate, { as: ALICE });
    if (status !== 200 && status !== 503) throw new Error(`${status} ${text}`);
    return status === 200 && !text.includes('"n/a"');
  }, { what: "every daemon was heard of", everyMs: 20 });
}

/** Starts a bare server that answers with the bytes of the service's answer to `GET /rest/auth`. */
export async function startBareServer({ site, url }: Pick<BenchSite, "site" | "url">): Promise<{
  readonly process: ChildProcess;
  readonly url: string;
}> {
  const reply = await ask(`${url}/rest/auth`, site.authority.certificate, { as: ALICE });
  const own = new Set(["date", "connection", "keep-alive"]);
  const headers = Object.entries(reply.headers).filter(([name]) => !own.has(name));
  const answer = `${site.folder}/answer.json`;
  await Deno.writeTextFile(answer, JSON.stringify({ headers: headers.flat(), body: reply.text }));
  const conf = `${site.folder}/conf`;
  const { process, said } = await ChildProcess.start(
    new URL("./bare_server.ts", import.meta.url),
    [`${conf}/auth-cert.pem`, `${conf}/auth-key.pem`, answer],
    /listening on (\d+)/,
  );
  return { process, url: `https://127.0.0.1:${said}` };
}
