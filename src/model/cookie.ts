/** `__Host-` cookie: HTTPS only, hidden from scripts, SameSite=Lax (RFC 6265bis, 4.1.3.2, 5.5 and 8.8). */
export class HostCookie {
  readonly #name: string;

  /** @param base Base URL without trailing slash: its path is in the name, so that two services on one host differ. */
  constructor(purpose: string, base: string) {
    const path = new URL(base).pathname.replace(/^\/$/, "").replaceAll("/", ".");
    this.#name = `__Host-authserver-${purpose}${path}`;
  }

  /** Returns the cookie's value (RFC 6265, 4.2.1); `undefined` if it is absent or repeated. */
  valueIn(header: string | null): string | undefined {
    return readCookie(header, this.#name);
  }

  /** Returns `Set-Cookie` for a base64url value. @param seconds Absent: until the browser closes; 0: delete. */
  set(value: string, seconds?: number): string {
    const lasting = seconds === undefined ? "" : `; Max-Age=${seconds}`;
    return `${this.#name}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax${lasting}`;
  }
}

/** Returns a cookie's value. Ignores a cookie that occurs twice, since an attacker may have set either one. */
export function readCookie(header: string | null, name: string): string | undefined {
  const values = (header ?? "").split(";").flatMap((pair) => {
    const equals = pair.indexOf("=");
    return equals > 0 && pair.slice(0, equals).trim() === name ? [pair.slice(equals + 1).trim()] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}
