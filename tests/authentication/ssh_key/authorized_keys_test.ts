import assert from "node:assert/strict";
import fc from "fast-check";
import { parseKeyLine, unmetCondition } from "../../../src/authentication/ssh_key/authorized_keys.ts";
import { processorTime } from "../../model/processor_time.ts";
import { publicKeyWords, publicLine, SHEET_KEY_LINE, wireString } from "./user_keys.ts";

/** 2026-01-15 12:00 UTC. */
const NOW = Date.UTC(2026, 0, 15, 12);
const KEY = publicLine("user_ed25519");
const [TYPE, BLOB] = publicKeyWords("user_ed25519");

/** Returns the result for a caller with a key on this line: `accepted`, `empty`, or the reason. */
function judge(line: string, clientAddress = "192.0.2.17", now = NOW): string {
  const parsed = parseKeyLine(line);
  if (parsed.kind === "empty") return "empty";
  if (parsed.kind === "refused") return parsed.reason;
  return unmetCondition(parsed.key, { clientAddress, now }) ?? "accepted";
}

const ACCEPTED = "accepted";
const ELSEWHERE = "the key may not be used from there";
const EXPIRED = "the key has expired";
const NO_KEY = "no key type where one belongs";
const UNREADABLE = "options cannot be read";
const UNKNOWN = "unknown option, or one without a value that it can have";
const BAD_FROM = "option from: expected addresses, ranges or patterns";
const BAD_TIME = "option expiry-time: expected YYYYMMDD[HHMM[SS]], with Z if it is UTC";
const COMMAND = "option command: the key may run only one command";
const AUTHORITY = "option cert-authority: the key signs certificates, it is no user's";

const LINES: [string, string][] = [
  // Lines without options.
  [KEY, ACCEPTED],
  [SHEET_KEY_LINE, ACCEPTED],
  [`${TYPE} ${BLOB}`, ACCEPTED],
  [` \t${TYPE}\t ${BLOB}\r\n`, ACCEPTED],
  [`${KEY} a comment with "quotes", #, = and ${BLOB}`, ACCEPTED],
  ["", "empty"],
  [" \t ", "empty"],
  [`# ${KEY}`, "empty"],
  [`  \t#${KEY}`, "empty"],
  [`#no-pty ${KEY}`, "empty"],
  [TYPE, "key is not in base64"],
  [BLOB, NO_KEY],
  [`ssh-rsa ${BLOB}`, "key is not of the type named before it"],
  [`${TYPE.toUpperCase()} ${BLOB}`, UNKNOWN],
  [`${TYPE} comment ${BLOB}`, "key is not in base64"],
  [`something ${KEY}`, UNKNOWN],
  [publicLine("old_dsa"), "key type is not supported"],
  [publicLine("user_ed25519-cert"), "key type is not supported"],
  [`sk-ssh-ed25519@openssh.com ${BLOB}`, "key type is not supported"],
  [publicLine("weak_rsa1024"), "RSA key of 1024 bits, expected 2048 to 4096"],
  [`${KEY}${"x".repeat(17_000)}`, "line is too long"],
  // Options without effect here.
  [`restrict ${KEY}`, ACCEPTED],
  [`restrict,pty,port-forwarding,agent-forwarding,X11-forwarding,user-rc ${KEY}`, ACCEPTED],
  [`no-pty,no-port-forwarding,no-X11-forwarding,no-agent-forwarding,no-user-rc ${KEY}`, ACCEPTED],
  [`NO-PTY,Restrict ${KEY}`, ACCEPTED],
  [`no-touch-required,verify-required ${KEY}`, ACCEPTED],
  [`environment="A=b c",permitopen="[2001:db8::1]:80",permitlisten="8080",tunnel="0" ${KEY}`, ACCEPTED],
  [`environment="A=\\"#, ${BLOB}" ${KEY}`, ACCEPTED],
  [`environment="ends in \\\\" ${KEY}`, NO_KEY],
  // Options that forbid.
  [`command="/bin/true" ${KEY}`, COMMAND],
  [`no-pty,COMMAND="a, b" ${KEY}`, COMMAND],
  [`command="" ${KEY}`, COMMAND],
  [`cert-authority ${KEY}`, AUTHORITY],
  [`Cert-Authority,from="*" ${KEY}`, AUTHORITY],
  [`cert-authority,principals="ann" ${KEY}`, AUTHORITY],
  [`principals="ann" ${KEY}`, "option principals: the key signs certificates, it is no user's"],
  // Unknown options, and options with a wrong syntax.
  [`no-such-option ${KEY}`, UNKNOWN],
  [`no-no-pty ${KEY}`, UNKNOWN],
  [`no-restrict ${KEY}`, UNKNOWN],
  [`no-cert-authority ${KEY}`, UNKNOWN],
  [`future="x" ${KEY}`, UNKNOWN],
  [`pty="x" ${KEY}`, UNKNOWN],
  [`environment ${KEY}`, UNKNOWN],
  [`from ${KEY}`, UNKNOWN],
  [`no-pty, ${KEY}`, UNREADABLE],
  [`,no-pty ${KEY}`, UNREADABLE],
  [`no-pty,,restrict ${KEY}`, UNREADABLE],
  [`from=192.0.2.17 ${KEY}`, UNREADABLE],
  [`from="192.0.2.17"no-pty ${KEY}`, UNREADABLE],
  [`from="192.0.2.17 ${KEY}`, NO_KEY],
  [`from="192.0.2.17\\" ${KEY}`, NO_KEY],
  [`from="a\\",no-pty ${KEY}" x`, BAD_FROM],
  [`no-pty , restrict ${KEY}`, NO_KEY],
  [`from="${KEY}" ssh-rsa AAAA`, BAD_FROM],
  // from=
  [`from="192.0.2.17" ${KEY}`, ACCEPTED],
  [`from="192.0.2.18" ${KEY}`, ELSEWHERE],
  [`from="192.0.2.0/24" ${KEY}`, ACCEPTED],
  [`from="192.0.3.0/24,10.0.0.0/8" ${KEY}`, ELSEWHERE],
  [`FROM="10.0.0.0/8,192.0.2.*" ${KEY}`, ACCEPTED],
  [`from="192.0.2.1?" ${KEY}`, ACCEPTED],
  [`from="192.0.2.1*7*" ${KEY}`, ACCEPTED],
  [`from="192.0.2.?" ${KEY}`, ELSEWHERE],
  [`from="192.0.2" ${KEY}`, ELSEWHERE],
  [`from="*" ${KEY}`, ACCEPTED],
  [`from="!192.0.2.17,*" ${KEY}`, ELSEWHERE],
  [`from="*,!192.0.2.0/28" ${KEY}`, ACCEPTED],
  [`from="*,!192.0.2.0/27" ${KEY}`, ELSEWHERE],
  [`from="!10.0.0.1" ${KEY}`, ELSEWHERE],
  [`from="laptop.example.org" ${KEY}`, ELSEWHERE],
  [`from="*.example.org" ${KEY}`, ELSEWHERE],
  [`from="2001:db8::/32" ${KEY}`, ELSEWHERE],
  [`from="::ffff:192.0.2.17" ${KEY}`, ACCEPTED],
  [`from="" ${KEY}`, BAD_FROM],
  [`from="192.0.2.17," ${KEY}`, BAD_FROM],
  [`from="192.0.2.17,!" ${KEY}`, BAD_FROM],
  [`from="192.0.2.17, 10.0.0.1" ${KEY}`, BAD_FROM],
  [`from="192.0.2.17/24" ${KEY}`, BAD_FROM],
  [`from="192.0.2.0/33" ${KEY}`, BAD_FROM],
  [`from="*/8" ${KEY}`, BAD_FROM],
  [`from="192.0.2.17",from="192.0.2.17" ${KEY}`, "option from: given twice"],
  // expiry-time=
  [`expiry-time="20260115120000Z" ${KEY}`, ACCEPTED],
  [`expiry-time="20260115115959Z" ${KEY}`, EXPIRED],
  [`expiry-time="202601151200Z" ${KEY}`, ACCEPTED],
  [`expiry-time="202601151159z" ${KEY}`, EXPIRED],
  [`expiry-time="202601151200UTC" ${KEY}`, ACCEPTED],
  [`expiry-time="20260116Z" ${KEY}`, ACCEPTED],
  [`expiry-time="20260115Z" ${KEY}`, EXPIRED],
  [`expiry-time="20260117" ${KEY}`, ACCEPTED],
  [`expiry-time="20260113" ${KEY}`, EXPIRED],
  [`expiry-time="20991231",expiry-time="20200101" ${KEY}`, EXPIRED],
  [`expiry-time="20200101",expiry-time="20991231" ${KEY}`, EXPIRED],
  [`expiry-time="20240229Z" ${KEY}`, EXPIRED],
  [`expiry-time="20270229Z" ${KEY}`, BAD_TIME],
  [`expiry-time="20271301Z" ${KEY}`, BAD_TIME],
  [`expiry-time="202701012460Z" ${KEY}`, BAD_TIME],
  [`expiry-time="2027010112Z" ${KEY}`, BAD_TIME],
  [`expiry-time="2027-01-01" ${KEY}`, BAD_TIME],
  [`expiry-time="19690101Z" ${KEY}`, BAD_TIME],
  [`expiry-time="00990101Z" ${KEY}`, BAD_TIME],
  [`expiry-time="" ${KEY}`, BAD_TIME],
  [`expiry-time=20270101 ${KEY}`, UNREADABLE],
  [`expiry-time="20270101Z",from="192.0.2.0/24",no-pty ${KEY}`, ACCEPTED],
  [`expiry-time="20200101Z",from="10.0.0.1" ${KEY}`, EXPIRED],
];

Deno.test(`parseKeyLine() and unmetCondition() treat each of ${LINES.length} lines as OpenSSH does, or more strictly`, () => {
  for (const [line, expected] of LINES) assert.equal(judge(line), expected, line);
});

Deno.test("unmetCondition() refuses a key with from= to a caller without a proper address", () => {
  for (const address of ["", "unknown", "localhost", "192.0.2.17:80", "fe80::1%eth0"]) {
    assert.equal(judge(`from="*" ${KEY}`, address), ELSEWHERE, address);
    assert.equal(judge(KEY, address), ACCEPTED, address);
  }
});

Deno.test("unmetCondition() compares IPv6 addresses by value and by pattern", () => {
  const from = (patterns: string, address: string) => judge(`from="${patterns}" ${KEY}`, address);
  assert.equal(from("2001:db8::/32", "2001:DB8:0::17"), ACCEPTED);
  assert.equal(from("2001:0DB8::0017", "2001:db8::17"), ACCEPTED);
  assert.equal(from("2001:db8:*", "2001:db8::17"), ACCEPTED);
  assert.equal(from("*,!2001:db8::/32", "2001:db8::17"), ELSEWHERE);
  assert.equal(from("::ffff:192.0.2.0/120", "192.0.2.9"), ACCEPTED);
});

Deno.test("unmetCondition() reads a time without Z in the zone of the host", () => {
  const local = new Date(2026, 5, 1, 10, 30, 0).getTime();
  assert.equal(judge(`expiry-time="202606011030" ${KEY}`, "192.0.2.17", local + 999), ACCEPTED);
  assert.equal(judge(`expiry-time="202606011030" ${KEY}`, "192.0.2.17", local + 1000), EXPIRED);
});

Deno.test("unmetCondition() distinguishes a time with Z from one without if the host is not in UTC", async () => {
  const module = new URL("../../../src/authentication/ssh_key/authorized_keys.ts", import.meta.url);
  const script = `import { parseKeyLine } from ${JSON.stringify(module.href)};
    const end = (time) => parseKeyLine('expiry-time="' + time + '" ${KEY}').key.conditions.expires;
    console.log(end("202606011030"), end("202606011030Z"));`;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-check", script],
    env: { TZ: "America/New_York", NO_COLOR: "1" },
  }).output();
  const utc = Date.UTC(2026, 5, 1, 10, 30) / 1000;
  assert.equal(new TextDecoder().decode(stdout).trim(), `${utc + 4 * 3600} ${utc}`);
});

/** Results of sshd (OpenSSH 9.2), except for service names: sshd accepts them, we do not know their ports. */
const values: [taken: boolean, option: string][] = [
  ...['any"', 'ANY"', '0"', ' 1"', '2147483645"'].map((end): [boolean, string] => [true, `tunnel="${end}`]),
  ...['blah"', '2147483646"', '-1"', '"'].map((end): [boolean, string] => [false, `tunnel="${end}`]),
  ...["foo:80", "foo/80", "foo:*", ":80", "/80", "[::1]:80", "a[b]:80", "foo:080", "foo:+80", "*:*"]
    .map((value): [boolean, string] => [true, `permitopen="${value}"`]),
  ...["foo", "foo:0", "foo:65536", "foo:ssh", "[::1]80", "[::1", "::1:80", "foo:80:90", "a/80:90", "80", ""]
    .map((value): [boolean, string] => [false, `permitopen="${value}"`]),
  ...["80", "*", "*:80", "[::1]:80"].map((value): [boolean, string] => [true, `permitlisten="${value}"`]),
  ...["foo", "[80]", "", "foo/80", "a:80/90"].map((
    value,
  ): [boolean, string] => [false, `permitlisten="${value}"`]),
  ...["A=x", "1=x", "A_b="].map((value): [boolean, string] => [true, `environment="${value}"`]),
  ...[",=x", "A", "=x", "A-b=x", "\u00c4=x", ""].map((
    value,
  ): [boolean, string] => [false, `environment="${value}"`]),
];
for (const [taken, option] of values) {
  Deno.test(`parseKeyLine() ${taken ? "accepts" : "drops"} a key with ${option}, as sshd does`, () => {
    assert.equal(judge(`${option} ${KEY}`), taken ? ACCEPTED : UNKNOWN);
    assert.equal(judge(`no-pty,${option},restrict ${KEY}`), taken ? ACCEPTED : UNKNOWN);
  });
}

Deno.test("parseKeyLine() drops a key with a host name that is too long", () => {
  assert.equal(judge(`permitopen="${"h".repeat(1024)}:80" ${KEY}`), ACCEPTED);
  assert.equal(judge(`permitopen="${"h".repeat(1025)}:80" ${KEY}`), UNKNOWN);
});

Deno.test("parseKeyLine() refuses a mebibyte of blanks by its length", () => {
  for (
    const line of [`${KEY}${" ".repeat(1 << 20)}x`, " ".repeat(1 << 20), `${"\t".repeat(1 << 20)}${KEY}`]
  ) {
    assert.equal(judge(line), "line is too long");
  }
});

Deno.test("parseKeyLine() and hindrance() handle long lists of wildcards quickly", async () => {
  const pattern = "*1".repeat(4000);
  const took = await processorTime(() => {
    assert.equal(judge(`from="${pattern}" ${KEY}`, "2001:db8:1111:1111:1111:1111:1111:1112"), ELSEWHERE);
  });
  assert.ok(took < 500, `${took} ms`);
});

Deno.test("parseKeyLine() never reads a key from inside an option or a comment", () => {
  const [otherType, otherBlob] = publicKeyWords("other_ed25519");
  fc.assert(fc.property(fc.string(), (text) => {
    const value = `${text.replace(/["\\\r\n]/g, "")} ${otherType} ${otherBlob}`;
    const parsed = parseKeyLine(`environment="A=${value}" ${KEY} ${otherBlob}`);
    assert.equal(parsed.kind, "key");
    const plain = parseKeyLine(KEY);
    assert.ok(parsed.kind === "key" && plain.kind === "key");
    assert.equal(parsed.key.publicKey.fingerprint, plain.key.publicKey.fingerprint);
  }));
});

Deno.test("parseKeyLine() never throws, and repeats nothing of the line", () => {
  const piece = fc.oneof(
    fc.string(),
    fc.constantFrom(
      TYPE,
      BLOB,
      "ssh-rsa",
      'from="',
      '"',
      "\\",
      ",",
      " ",
      "\t",
      "!",
      "expiry-time=",
      "no-pty",
      "#",
    ),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => wireString(bytes).toString("base64")),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const parsed = parseKeyLine(pieces.join(""));
      assert.ok(["key", "empty", "refused"].includes(parsed.kind));
      if (parsed.kind === "refused") assert.ok(!parsed.reason.includes("AAAA"));
    }),
    { numRuns: 3000 },
  );
});
