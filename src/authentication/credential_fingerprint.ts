import { createHmac } from "node:crypto";

/** Returns an HMAC keyed by the credential itself, which must be hard to guess; `parts` separate its uses. */
export function credentialFingerprint(credential: string, ...parts: readonly string[]): string {
  return createHmac("sha256", credential).update(JSON.stringify(parts)).digest("base64url").slice(0, 22);
}

/** Cache of the last fingerprint of each entry in a file: computing one costs more than checking an MD5 password. */
export class EntryFingerprints<Entry extends object> {
  readonly #made = new WeakMap<Entry, { readonly login: string; readonly fingerprint: string }>();

  constructor(readonly use: "password" | "key", readonly credentialOf: (entry: Entry) => string) {}

  of(entry: Entry, login: string): string {
    const known = this.#made.get(entry);
    if (known?.login === login) return known.fingerprint;
    const fingerprint = credentialFingerprint(this.credentialOf(entry), this.use, login);
    this.#made.set(entry, { login, fingerprint });
    return fingerprint;
  }
}
