import { generateKeyPairSync } from "node:crypto";
import { type Loaded, loadText, MINIMAL } from "./load_fixture.ts";

/** Prefix of the authentication keys. */
export const AUTHENTICATION = "container.security.rest.authentication.";
const REST = MINIMAL.replace(/^container\.security\.rest.*\n/m, "") +
  "container.security.trustedAssertionIssuers.directoryLocations.1=conf/unity/*.pem\n";
const FIRST = REST.split("\n").length;

const FORM = { type: "pkcs8", format: "pem" } as const;
const WEAK_KEY = generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey.export(FORM).toString();
const GOOD_KEY = generateKeyPairSync("ed25519").privateKey.export(FORM).toString();

/** Loads lines below the authentication prefix, after a minimal configuration. */
export async function loadAuthentication(...lines: string[]): Promise<Loaded> {
  const text = REST + lines.map((line) => `${AUTHENTICATION}${line}`).join("\n");
  const { config, errors, warnings } = await loadText(text, {
    "conf/users.txt": "",
    "conf/expr": '"UID="+x',
    "conf/weak.pem": WEAK_KEY,
    "conf/good.pem": GOOD_KEY,
  });
  const short = (message: string) =>
    message.replace(/^conf\/c:(\d+)/, (_, line) => `${+line - FIRST + 1}`).replaceAll(AUTHENTICATION, "");
  return { config, errors: errors.map(short), warnings: warnings.map(short) };
}
