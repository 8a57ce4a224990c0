/**
 * A cookie of our own in the browsers of people: of this host alone, by HTTPS alone, not seen by scripts, and sent with
 * requests from other sites only where a person follows a link (RFC 6265bis, 4.1.3.2, 5.5 and 8.8).
 */
export class HostCookie {
  readonly #name: string;

  /**
   * @param purpose Such as `sign-in`.
   * @param base Base of links for the caller, without trailing slash. Its path becomes part of the name: `__Host-` cookies
   * are sent with whatever is asked of the host, and two services behind one gateway must not overwrite each other's.
   */
  constructor(purpose: string, base: string) {
    const path = new URL(base).pathname.replace(/^\/$/, "").replaceAll("/", ".");
    this.#name = `__Host-authserver-${purpose}${path}`;
  }

  /**
   * @param header `Cookie` of a request (RFC 6265, 4.2.1); null: there is none.
   * @returns `undefined` if it is not there, or more than once.
   */
  valueIn(header: string | null): string | undefined {
    return readCookie(header, this.#name);
  }

  /**
   * Value of `Set-Cookie`.
   * @param value Characters of base64url.
   * @param seconds How long the browser keeps it; absent: until it is closed; 0 has it forgotten.
   */
  set(value: string, seconds?: number): string {
    const lasting = seconds === undefined ? "" : `; Max-Age=${seconds}`;
    return `${this.#name}=${value}; Path=/; Secure; HttpOnly; SameSite=Lax${lasting}`;
  }
}

/** The value of a cookie; of one that is there twice, who knows who has set which. */
export function readCookie(header: string | null, name: string): string | undefined {
  const values = (header ?? "").split(";").flatMap((pair) => {
    const equals = pair.indexOf("=");
    return equals > 0 && pair.slice(0, equals).trim() === name ? [pair.slice(equals + 1).trim()] : [];
  });
  return values.length === 1 ? values[0] : undefined;
}
