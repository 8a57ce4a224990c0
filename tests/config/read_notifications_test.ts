import assert from "node:assert/strict";
import { loadText, MINIMAL, MINIMAL_LINES } from "./load_fixture.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const STORE = "persistence.directory=data\n";
const WEBHOOK = `notify.webhook.url=https://receiver.example.org/hook\nnotify.webhook.secret=${SECRET}\n`;
const MAIL = "share.mail.relay=smtp://mail.example.org\nshare.mail.from=uftp@example.org\n";

Deno.test("notifications are read with their defaults, and are absent without keys", async () => {
  assert.deepEqual((await loadText(MINIMAL)).config?.notifications, []);
  const { config, errors } = await loadText(`${MINIMAL}${STORE}${WEBHOOK}${MAIL}`);
  assert.deepEqual(errors, []);
  assert.deepEqual(JSON.parse(JSON.stringify(config?.notifications)), [
    { kind: "webhook", name: "webhook", address: "https://receiver.example.org/hook", secret: SECRET },
    {
      kind: "mail",
      name: "mail",
      relay: "smtp://mail.example.org",
      startTls: true,
      from: "uftp@example.org",
    },
  ]);
});

const WRONG: readonly (readonly [what: string, lines: string, expected: string])[] = [
  ["no folder for pending notifications", WEBHOOK, "notify.webhook.url: expected persistence.directory too"],
  ["a mistyped section", `${STORE}notify.webhok.url=https://x/\n`, "notify.webhok.url: "],
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
