import assert from "node:assert/strict";
import type { Call } from "../../../src/resource/call.ts";
import {
  shareAddress,
  shareFacts,
  trailTo,
  uploadTarget,
  uploadView,
} from "../../../src/resource/access/share_facts.ts";
import { EVERYBODY, type Share } from "../../../src/sharing/share.ts";
import { DRAFT, MADE } from "../../sharing/store/conformance.ts";
import { call } from "../sample_call.ts";

const SHARE: Share = {
  ...DRAFT,
  id: "abc",
  server: "HPC",
  path: "/data/my d/",
  created: 0,
  accessCount: 0,
};
const PROTECTED: Share = { ...SHARE, target: EVERYBODY, password: "$scrypt$" };
const OPEN: Share = { ...SHARE, target: EVERYBODY };
const BOB: Share = { ...SHARE, target: "cn=bob" };

const asked = (more: Partial<Call> = {}): Call => ({ ...call(), ...more });
const SIGNED_IN = {
  signIn: {
    identity: { dn: "CN=Bob", method: "PASSWORD", via: "PASSWORD" },
    userName: "bob",
    ends: 0,
    idleMinutes: 1,
    formToken: "t",
    active() {},
  },
};

/** Options of `pyuftp` and `curl` for a share, by the users whom it is for and the user who asks. */
const COMMANDS:
  readonly (readonly [what: string, share: Share, user: string | undefined, pyuftp: string, curl: string])[] =
    [
      ["everybody with the password", PROTECTED, "ann", "-u ':<password>'", "-u ':<password>' "],
      ["everybody", OPEN, "ann", "-u anonymous", ""],
      ["one who signed in by name", BOB, "bob", "-u bob -P", "-u bob "],
      [
        "one who did not",
        BOB,
        undefined,
        "-u <user> -i ~/.ssh/id_ed25519",
        "-H 'Authorization: Bearer <token>' ",
      ],
      ["one with the password of a link", { ...BOB, password: "$" }, "bob", "-u bob -P", "-u bob "],
    ];
for (const [what, share, userName, pyuftp, curl] of COMMANDS) {
  Deno.test(`the commands for a share are those of ${what}`, () => {
    const from = asked(userName === undefined ? {} : { userName });
    const address = "'https://h/rest/access/HPC/abc:/data/my d/'";
    assert.equal(shareFacts(from, share, share.path).command, `pyuftp cp -r ${pyuftp} ${address} .`);
    assert.equal(
      uploadView(from, share, 0).command,
      `curl -T <file> ${curl}https://h/rest/access/HPC/abc/`,
    );
  });
}

Deno.test("shareFacts() returns what pages show of a share", () => {
  const { name, owner, expires, note, counted } = shareFacts(asked(), SHARE, SHARE.path);
  assert.deepEqual([name, owner, expires, note, counted], ["my d", SHARE.owner, 0, undefined, false]);
  const facts = (more: Partial<Share>) => shareFacts(asked(), { ...SHARE, ...more }, SHARE.path);
  assert.equal(facts({ made: MADE }).owner, MADE.owner.dn);
  assert.equal(facts({ made: MADE }).ownerName, "Alice Example");
  assert.equal(facts({ path: "/" }).name, "HPC", "the root has no name");
  assert.deepEqual([facts({ oneTime: true }).counted, facts({ usesLeft: 0 }).counted], [true, true]);
  assert.match(facts({ path: "/data/file" }).command, /^pyuftp cp -u/, "no directory");
});

Deno.test("uploadView() returns the free quota", () => {
  const quota = (more: Partial<Share>) => uploadView(asked(), { ...SHARE, ...more }, 0).quota;
  assert.equal(quota({}), undefined);
  assert.deepEqual(quota({ quota: { files: 3 } }), { files: 3, bytes: undefined });
  assert.deepEqual(quota({ quota: { files: 3, bytes: 10 }, received: { files: 1, bytes: 10 } }), {
    files: 2,
    bytes: 0,
  });
  assert.deepEqual(quota({ quota: { files: 3 }, received: { files: 4, bytes: 1 } })?.files, 0);
});

Deno.test("uploadTarget() depends on the sign-in and on what may be replaced, for scripts and forms", () => {
  const target = (from: Pick<Call, "root" | "signIn">, share = SHARE, directory = share.path) => {
    const { to, form, taken, formToken } = uploadTarget(from, share, directory);
    return [to, form, taken, formToken];
  };
  const below = `${SHARE.path}a b/`;
  const root = "../";
  assert.deepEqual(target({ root }), ["../rest/access/HPC/abc/", "../drop/HPC/abc", "leave", undefined]);
  assert.deepEqual(target({ root }, SHARE, below).slice(0, 2), [
    "../rest/access/HPC/abc/a%20b/",
    "../drop/HPC/abc/a%20b/",
  ]);
  assert.deepEqual(target({ root, ...SIGNED_IN }, SHARE, below), [
    "../shared/HPC/abc/a%20b/",
    "../shared/HPC/abc/a%20b/",
    "leave",
    "t",
  ]);
  assert.equal(target({ root }, { ...SHARE, access: "DROP" })[2], "rename");
  assert.equal(target({ root }, { ...SHARE, access: "MODIFY" })[2], "ask");
});

Deno.test("trailTo() leads down to a directory, with addresses that depend on the sign-in", () => {
  const names = (from: Call, directory: string) =>
    trailTo(from, SHARE, directory).map(({ name, href }) => `${name} ${href}`);
  assert.deepEqual(names(asked(), SHARE.path), ["my d https://h/rest/access/HPC/abc/"]);
  assert.deepEqual(names(asked(SIGNED_IN), `${SHARE.path}a b/c/`), [
    "my d ../shared/HPC/abc/",
    "a b ../shared/HPC/abc/a%20b/",
    "c ../shared/HPC/abc/a%20b/c/",
  ]);
  assert.equal(shareAddress(asked(), SHARE), "https://h/rest/access/HPC/abc");
});
