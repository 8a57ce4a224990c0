import assert from "node:assert/strict";
import { SmtpConnection } from "../../../src/notify/mail/smtp_connection.ts";

/** Returns a connection to a relay with these replies, which breaks when a written text contains `breaks`. */
function breakingAt(breaks: string, replies: readonly string[]) {
  const left = [...replies];
  const written: string[] = [];
  return {
    written,
    read() {
      const reply = left.shift();
      return Promise.resolve(reply === undefined ? undefined : new TextEncoder().encode(`${reply}\r\n`));
    },
    async write(bytes: Uint8Array) {
      const text = new TextDecoder().decode(bytes);
      await Promise.resolve();
      if (text.includes(breaks)) throw new Error("broken pipe");
      written.push(text);
    },
    close() {},
  };
}

Deno.test("SmtpConnection reports a connection that breaks while it sends a command, a password or a message", async () => {
  const command = new SmtpConnection(breakingAt("MAIL", []));
  await assert.rejects(command.command("MAIL FROM:<a@example.org>"), /broken pipe/);
  const login = new SmtpConnection(breakingAt("AUTH", []));
  await assert.rejects(login.logIn("uftp", "secret"), /broken pipe/);
  const message = new SmtpConnection(breakingAt("Subject", ["354 go"]));
  await assert.rejects(message.message(["Subject: x", "", "text"]), /broken pipe/);
});

Deno.test("SmtpConnection writes lines and the end of a message in SMTP form", async () => {
  const connection = breakingAt("nothing", ["354 go", "250 taken"]);
  await new SmtpConnection(connection).message(["Subject: x", "", "text"]);
  assert.deepEqual(connection.written, ["DATA\r\n", "Subject: x\r\n\r\ntext\r\n.\r\n"]);
});
