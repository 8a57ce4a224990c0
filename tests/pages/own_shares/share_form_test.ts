import assert from "node:assert/strict";
import {
  changeFields,
  shareChange,
  shareFields,
  shareRequest,
} from "../../../src/pages/own_shares/share_form.ts";
import { parseForm } from "../../../src/resource/form.ts";
import { EVERYBODY } from "../../../src/sharing/share.ts";
import { wordsOf } from "../words.ts";
import { isHttpError } from "../../../src/model/http_error.ts";

const DAY = 86_400;

/** Returns the values of a field's options on a page, with a mark at the selected one. */
function options(page: string, id: string): string[] {
  const [, field = ""] = new RegExp(`<select id="${id}"[^>]*>(.*?)</select>`, "s").exec(page) ?? [];
  return [...field.matchAll(/<option value="([^"]*)"( selected)?/g)].map(([, value, chosen]) =>
    chosen === undefined ? String(value) : `*${value}`
  );
}

function fields(allowWriteAccess: boolean, maxLifetimeSeconds: number): string {
  return String(shareFields("/data/", { allowWriteAccess, maxLifetimeSeconds }));
}

Deno.test("shareFields() offers writing, and quotas of uploads, only if the service allows it", () => {
  const [allowed, forbidden] = [fields(true, 0), fields(false, 0)];
  assert.deepEqual(options(allowed, "access"), ["READ", "WRITE", "MODIFY", "DROP"]);
  assert.match(allowed, /name="mebibytes"/);
  assert.deepEqual(options(forbidden, "access"), ["READ"]);
  assert.doesNotMatch(forbidden, /name="mebibytes"/);
});

const LIFETIMES: readonly (readonly [maxLifetimeSeconds: number, offered: string[]])[] = [
  [0, ["1", "7", "*30", "365", "0"]],
  [365 * DAY, ["1", "7", "*30", "365"]],
  [30 * DAY, ["1", "7", "*30"]],
  [30 * DAY - 1, ["1", "*7"]],
  [DAY, ["*1"]],
  [DAY / 2, ["0.5"]],
];
for (const [most, offered] of LIFETIMES) {
  Deno.test(`shareFields() offers ${offered.join(", ")} days if shares may last ${most} s`, () => {
    assert.deepEqual(options(fields(true, most), "days"), offered);
  });
}

Deno.test("changeFields() keeps the lifetime unless another one is chosen, and can remove a password", () => {
  const open = String(changeFields({ note: "for <you>" }, 0));
  assert.deepEqual(options(open, "days"), ["*", "1", "7", "30", "365", "0"]);
  assert.match(open, /value="for &#60;you&#62;"/);
  assert.doesNotMatch(open, /name="open"/);
});

Deno.test("changeFields() says what an empty password means, and offers to remove only what exists", () => {
  const words = (password?: string) => wordsOf(String(changeFields({ password }, DAY))).slice(4);
  assert.deepEqual(words(), [
    "Password for the link",
    "Leave empty for no password. Send the password separately from the link.",
  ]);
  assert.deepEqual(words("…"), [
    "New password for the link",
    "Leave empty to keep the password. After a change, every browser asks for the new one.",
    "Remove the password",
  ]);
});

Deno.test("shareFields() explains the purpose of each field", () => {
  assert.deepEqual(wordsOf(fields(true, DAY)), [
    "File or directory",
    "Recipient",
    "Distinguished name of one person. Leave empty for everyone who has the link.",
    "Recipient group",
    "Unix group on the server. Its current members can use the share after they sign in.",
    "Access",
    "read",
    "read and add files; programs may also replace files",
    "read, add and replace files",
    "upload only",
    "Expires after",
    "1 day",
    "Note for the recipient",
    "More options",
    "Maximum number of uses",
    "Each download and each upload counts as one use. Leave empty for no limit.",
    "Maximum number of uploaded files",
    "Maximum size of all uploads, in MiB",
    "For access “upload only”. Leave empty for no limit.",
    "Password for the link",
    "Leave empty for no password. Send the password separately from the link.",
  ]);
});

Deno.test("shareRequest() addresses a person, a group, or everybody", () => {
  const forWhom = (text: string) => shareRequest(parseForm(`days=1&${text}`))["user"];
  assert.equal(forWhom("user=+CN%3DAnn+&group=+"), "CN=Ann");
  assert.equal(forWhom("user=&group=+hpc+"), "group:hpc");
  assert.equal(forWhom("user=&group="), EVERYBODY);
  assert.equal(forWhom(""), EVERYBODY);
});

Deno.test("shareFields() offers the groups of the owner", () => {
  const restrictions = { allowWriteAccess: true, maxLifetimeSeconds: 0 };
  const offered = String(shareFields("/data/", restrictions, { groups: ["hpc", 'a"b'] }));
  assert.match(offered, /<datalist id="groups"><option value="hpc"><\/option><option value="a&#34;b">/);
});

Deno.test("shareRequest() and shareChange() read the fields of the forms", () => {
  const asked = shareRequest(
    parseForm("path=/d/&user=&access=READ&days=0.5&uses=3&files=&mebibytes=2&note="),
  );
  assert.equal(asked["lifetime"], DAY / 2);
  assert.deepEqual([asked["maxUses"], asked["maxFiles"], asked["maxBytes"]], [
    "3",
    undefined,
    2 * 1024 * 1024,
  ]);
  assert.equal(shareChange(parseForm("days=&note=x&password="))["lifetime"], undefined);
  assert.equal(shareChange(parseForm("days=7&open=on"))["lifetime"], 7 * DAY);
  assert.equal(shareChange(parseForm("open=on"))["password"], "");
  for (const text of ["days=x", "days=1&mebibytes=-1", "days=1&user=CN%3DAnn&group=hpc"]) {
    assert.throws(
      () => shareRequest(parseForm(text)),
      (error) => isHttpError(error, "ERR_INVALID_REQUEST"),
      text,
    );
  }
});
