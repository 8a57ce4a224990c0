import { hashWithScrypt } from "../../../authentication/password/stored_hash.ts";
import { FOLDER_FILES, type SampleFile, scriptFiles, STARTUP_FILE } from "../installation/sample_file.ts";
import { passwordLine } from "../password_file_text.ts";
import { createTrialCertificates } from "./certificate.ts";

/** Validity of trial certificates in days. */
export const TRIAL_DAYS = 30;

const HOST = "localhost";
const ORGANIZATION = "authserver trial";
const USER = { name: "demo", dn: `CN=Demo User,O=${ORGANIZATION}` };
/** Authority's certificate, relative to the installation's folder. */
export const TRIAL_AUTHORITY = "conf/trusted/ca.pem";

/** Trial site: loopback only, one user, short-lived certificates. */
export interface TrialSite {
  readonly files: readonly SampleFile[];
  readonly user: string;
  readonly password: string; // not stored: the files have only its hash
  readonly host: string;
}

/** Creates a trial site. @param now Milliseconds since the epoch. @param prefix See {@link scriptFiles}. */
export async function createTrialSite(port: string, now: number, prefix?: string): Promise<TrialSite> {
  const password = crypto.getRandomValues(new Uint8Array(12)).toBase64({ alphabet: "base64url" });
  const { authority, service } = createTrialCertificates({
    organization: ORGANIZATION,
    host: HOST,
    valid: [new Date(now - 3_600_000), new Date(now + TRIAL_DAYS * 86_400_000)],
  });
  const line = passwordLine(USER.name, await hashWithScrypt(password), USER.dn);
  const account = { role: "user", xlogin: USER.name };
  const changes: Readonly<Record<string, (text: string) => string>> = {
    "conf/container.properties": (text) =>
      text.replace(/^container\.host=.*$/m, `container.host=${HOST}`)
        .replace(/^container\.port=.*$/m, `container.port=${port}`),
    "conf/mapfile.json": () => `${JSON.stringify({ [USER.dn]: account }, undefined, 2)}\n`,
    "conf/users.txt": (text) => `${text}${line}\n`,
  };
  return {
    user: USER.name,
    password,
    host: HOST,
    files: [
      ...FOLDER_FILES.map((file) => ({ ...file, text: changes[file.path]?.(file.text) ?? file.text })),
      { path: "conf/auth-cert.pem", mode: 0o644, text: service.certificate },
      { path: "conf/auth-key.pem", mode: 0o600, text: service.key },
      STARTUP_FILE,
      ...scriptFiles(prefix),
      { path: TRIAL_AUTHORITY, mode: 0o644, text: authority },
    ],
  };
}
