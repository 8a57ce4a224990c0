import assert from "node:assert/strict";
import { loadText, MINIMAL, MINIMAL_LINES } from "../config/load_fixture.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const STORE = "persistence.directory=data\n";
const WEBHOOK = `notify.webhook.url=https://receiver.example.org/hook\nnotify.webhook.secret=${SECRET}\n`;
const MAIL = "share.mail.relay=smtp://mail.example.org\nshare.mail.from=uftp@example.org\n";

const WRONG: readonly (readonly [what: string, lines: string, expected: string])[] = [
  ["a webhook without a secret", `${STORE}notify.webhook.url=https://x/\n`, "notify.webhook.secret: missing"],
  [
    "a malformed secret",
    `${STORE}${WEBHOOK.replace("whsec_", "whs_")}`,
    "expected whsec_ and 24 to 64 bytes",
  ],
  ["an unencrypted receiver elsewhere", `${STORE}${WEBHOOK.replace("https:", "http:")}`, "expected https://"],
  ["an unknown event", `${STORE}${WEBHOOK}notify.webhook.events=share.created share.gone\n`, "share.gone"],
  [
    "a misspelt key",
    `${STORE}${WEBHOOK}notify.webhook.event=ban.created\n`,
    "did you mean notify.webhook.events",
  ],
  [
    "a relay URL with another scheme",
    `${STORE}${MAIL.replace("smtp:", "https:")}`,
    "expected a URL that begins with smtps://",
  ],
  [
    "a relay with a path",
    `${STORE}${MAIL.replace("mail.example.org\n", "mail.example.org/x\n")}`,
    "expected an address such as",
  ],
  [
    "mail in clear text to another machine",
    `${STORE}${MAIL}share.mail.startTls=false\n`,
    "expected true, since the relay",
  ],
  [
    "an invalid sender address",
    `${STORE}${MAIL.replace("uftp@example.org", "UFTP <uftp@example.org>")}`,
    "share.mail.from = UFTP",
  ],
  ["a user without a password", `${STORE}${MAIL}share.mail.user=uftp\n`, "expected share.mail.password too"],
];

for (const [what, lines, expected] of WRONG) {
  Deno.test(`a configuration with ${what} is refused with line and key`, async () => {
    const { errors } = await loadText(`${MINIMAL}${lines}`);
    assert(errors.some((error) => error.includes(expected)), errors.join("\n"));
    assert(
      errors.every((error) => /^conf\/c(?::\d+)?: /.test(error)),
      `${MINIMAL_LINES} ${errors.join("\n")}`,
    );
    assert.doesNotMatch(errors.join("\n"), /MfKQ9r8/);
  });
}

Deno.test("a configuration may send mail unencrypted to a relay on this machine", async () => {
  const { errors } = await loadText(
    `${MINIMAL}${STORE}share.mail.relay=smtp://localhost\nshare.mail.startTls=false\nshare.mail.from=uftp@example.org\n`,
  );
  assert.deepEqual(errors, []);
});

Deno.test("a configuration may send events unencrypted to a receiver on this machine", async () => {
  const { errors } = await loadText(
    `${MINIMAL}${STORE}${WEBHOOK.replace("https://receiver.example.org", "http://localhost:8000")}`,
  );
  assert.deepEqual(errors, []);
});
