import { type ControlChannel, ControlClosed } from "./control_channel.ts";
import type { Job, JobTable, Login } from "./job_table.ts";
import { listed, PythonError, splitOnce } from "./python_text.ts";

/** Parts of the daemon that a login uses. */
export interface LoginHost {
  readonly jobs: JobTable;
  /** Whether the client must connect from an announced address. */
  readonly ipCheck: boolean;
  readonly version: string;
}

/**
 * Runs the dialogue up to the password (daemon-protocol.md 5.2), and checks the announced session.
 * @returns Job and login of the session; `undefined` after a refusal, which the client has received.
 */
export async function logIn(
  control: ControlChannel,
  host: LoginHost,
): Promise<{ job: Job; login: Login } | undefined> {
  try {
    const secret = await askForSecret(control, host.version);
    if (secret === undefined) return void control.reply("500 Protocol error");
    const job = host.jobs.find(secret);
    if (job === undefined) {
      return void control.reply("530 Not logged in: no matching transfer request found");
    }
    if (host.ipCheck) checkAddress(job, control.socket.remoteAddress ?? "");
    return enter(control, host.jobs, job);
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    return void control.reply(`500 Error establishing connection: ${error.message}`);
  }
}

async function askForSecret(control: ControlChannel, version: string): Promise<string | undefined> {
  control.reply(`220 UFTPD ${version}, https://www.unicore.eu`);
  for (let systemAsked = false;; systemAsked = true) {
    const line = await control.readLine();
    if (line === "USER anonymous") break;
    if (!line.toUpperCase().startsWith("SYST")) return undefined;
    if (systemAsked) throw new PythonError("list.remove(x): x not in list");
    control.reply("215 Unix Type: L8");
  }
  control.reply("331 Please specify the password");
  const line = await control.readLine();
  if (!line.startsWith("PASS ") && !line.startsWith("USER ")) return undefined;
  const [, secret] = splitOnce(line, " ");
  return secret === "anonymous" || secret === "" ? undefined : secret;
}

/** Compares addresses as text; a job without addresses admits nobody. */
function checkAddress(job: Job, peer: string): void {
  const announced = job.values.get("client-ip");
  if (announced === undefined) throw new PythonError("'client-ip'");
  const allowed = announced.split(",");
  if (!allowed.includes(peer)) {
    throw new PythonError(`Rejecting connection for '${job.user}' from ${peer}, allowed: ${listed(allowed)}`);
  }
}

function enter(control: ControlChannel, jobs: JobTable, job: Job): { job: Job; login: Login } | undefined {
  if (control.socket.destroyed) throw new ControlClosed("The client left before its password was checked");
  try {
    return { job, login: jobs.enter(job) };
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    return void control.reply(error.message);
  }
}
