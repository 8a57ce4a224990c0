import { Buffer } from "node:buffer";
import { connectionOver, type TlsConnection } from "../../outgoing/open_tls.ts";

const MAX_REPLY = 16 * 1024; // bytes of one reply

/** Unexpected reply of a relay. */
export class SmtpRefusal extends Error {
  constructor(readonly command: string, readonly code: number, text: string) {
    super(`the relay answers ${command} with ${code} ${text.slice(0, 200)}`);
  }
}

/** Connection to a mail relay (RFC 5321). Commands contain no untrusted text but plain mail addresses. */
export class SmtpConnection {
  #unread = "";

  constructor(readonly connection: TlsConnection) {}

  /** Starts TLS on a plain connection (RFC 3207). @throws {Error} If the relay refuses. */
  static async startTls(plain: Deno.Conn): Promise<void> {
    const connection = new SmtpConnection(connectionOver(plain));
    await connection.greeted();
    await connection.command("EHLO localhost");
    await connection.command("STARTTLS");
    // Bytes before the handshake would be injected.
    if (connection.#unread !== "") throw new Error("the relay sent more than an answer to STARTTLS");
  }

  /** Waits for the greeting, which the relay does not repeat after StartTLS. */
  async greeted(): Promise<void> {
    await this.#reply("the connection");
  }

  /** Logs in (RFC 4616). */
  async logIn(user: string, password: string): Promise<void> {
    const response = Buffer.from(`\0${user}\0${password}`).toString("base64");
    await this.#write(`AUTH PLAIN ${response}\r\n`);
    await this.#reply("AUTH PLAIN");
  }

  /** Sends a command. @param accepted First digit of an acceptable reply. @throws {SmtpRefusal} */
  async command(line: string, accepted = "2"): Promise<void> {
    await this.#write(`${line}\r\n`);
    await this.#reply(line.split(" ", 1)[0] ?? "", accepted);
  }

  /** Sends the lines of a message, none of which begins with a full stop. */
  async message(lines: readonly string[]): Promise<void> {
    await this.command("DATA", "3");
    await this.#write(`${lines.join("\r\n")}\r\n.\r\n`);
    await this.#reply("the message");
  }

  close(): void {
    this.connection.close();
  }

  async #write(text: string): Promise<void> {
    await this.connection.write(new TextEncoder().encode(text));
  }

  async #reply(to: string, accepted = "2"): Promise<void> {
    for (let received = 0; received <= MAX_REPLY;) {
      const end = this.#unread.indexOf("\n");
      if (end < 0) {
        const bytes = await this.connection.read();
        if (bytes === undefined) throw new Error("the relay closed the connection");
        received += bytes.length;
        this.#unread += Buffer.from(bytes).toString("latin1");
        continue;
      }
      const line = this.#unread.slice(0, end).trimEnd();
      this.#unread = this.#unread.slice(end + 1);
      const [, code = "", more = ""] = /^([2-5]\d\d)([ -]|$)/.exec(line) ?? [];
      if (code === "") throw new Error("the relay does not speak SMTP");
      if (more === "-") continue;
      if (!code.startsWith(accepted)) throw new SmtpRefusal(to, Number(code), line.slice(4));
      return;
    }
    throw new Error(`the reply of the relay is longer than ${MAX_REPLY} bytes`);
  }
}
