import assert from "node:assert/strict";
import { join } from "node:path";
import { createSite } from "../../system/running_service.ts";
import { passwd } from "../../../src/command/files/passwd.ts";
import { passwordFile } from "../../../src/authentication/password/password_file.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { basic } from "../../authentication/sample_credentials.ts";
import { recordedIo } from "../recorded_io.ts";

const MD5_LINE = "ann:447abe86dd2c12ca422693a3089de5c6:Rk3_vT8mZq0LxN5w:CN=Ann Example, O=Site";
const USERS = `# users of the site\n${MD5_LINE}\n\n  # staff\noff::s:CN=Off\n`;

interface Result {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

interface Scene {
  readonly file: string;
  readonly folder: string;
  /** Runs `passwd` with `--file`; `input` is for `--stdin`, `answers` are typed. */
  run(args: readonly string[], given?: { input?: string; answers?: readonly string[] }): Promise<Result>;
  text(): Promise<string>;
}

/** Registers a test with a new folder and a password file in it. */
function scene(name: string, test: (scene: Scene) => Promise<void>, text: string | undefined = USERS): void {
  Deno.test(name, async () => {
    const folder = await Deno.makeTempDir();
    const file = join(folder, "users.txt");
    if (text !== "") await Deno.writeTextFile(file, text, { mode: 0o600 });
    try {
      await test({
        file,
        folder,
        text: () => Deno.readTextFile(file),
        async run([command = "", ...args], given) {
          const io = recordedIo(given);
          const status = await passwd.run([command, "--file", file, ...args], io);
          return { status, out: io.out, err: io.err };
        },
      });
      const left = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) =>
        /\.(lock|new)$/.test(name)
      );
      assert.deepEqual(left, [], "nothing is left behind");
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

/** Returns the name that the service accepts for a user with a password. */
async function signIn(file: string, user: string, password: string): Promise<string | undefined> {
  const method = await passwordFile({ name: "P", file, log: SILENT });
  const result = await method.authenticate(basic(user, password), new AbortController().signal);
  method.close();
  return result.kind === "accepted" ? result.identity.dn : undefined;
}

scene("passwd add adds a user with scrypt, whom the service accepts", async ({ run, text, file }) => {
  const result = await run(["add", "bob", "--dn", " CN=Bob, O=Site ", "--stdin"], {
    input: "Grüße:Grüße:42\nmore",
  });
  assert.deepEqual(result, { status: 0, out: `User bob added to ${file}\n`, err: "" });
  const added = (await text()).slice(USERS.length);
  assert.match(
    added,
    /^bob:\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}::CN=Bob, O=Site\n$/,
  );
  assert.equal((await text()).slice(0, USERS.length), USERS);
  assert.equal(await signIn(file, "bob", "Grüße:Grüße:42"), "CN=Bob, O=Site");
  assert.equal(await modeOf(file), 0o600);
});

scene("passwd add --md5 writes the specification's form", async ({ run, text, file }) => {
  await run(["add", "bob", "--dn", "CN=Bob", "--md5", "--stdin"], { input: "sesame sesame\r\n" });
  assert.match((await text()).slice(USERS.length), /^bob:[0-9a-f]{32}:[A-Za-z0-9_]{16}:CN=Bob\n$/);
  assert.equal(await signIn(file, "bob", "sesame sesame"), "CN=Bob");
  assert.equal(await signIn(file, "bob", "sesame sesamf"), undefined);
});

scene("passwd add creates a missing file", async ({ run, file }) => {
  const { status } = await run(["add", "bob", "--dn", "CN=Bob", "--stdin", "--md5"], {
    input: "sesame sesame",
  });
  assert.equal(status, 0);
  assert.equal(await signIn(file, "bob", "sesame sesame"), "CN=Bob");
  assert.equal(await modeOf(file), 0o600);
}, "");

scene("passwd add asks twice at a terminal", async ({ run, file }) => {
  const args = ["add", "bob", "--dn", "CN=Bob", "--md5"];
  const { status, err } = await run(args, { answers: ["sesame sesame", "sesame sesame"] });
  assert.deepEqual([status, err], [0, "New password: The same again: "]);
  assert.equal(await signIn(file, "bob", "sesame sesame"), "CN=Bob");
});

scene("passwd change keeps name, order and comments", async ({ run, text, file }) => {
  const { status } = await run(["change", "ann", "--stdin"], { input: "tulip tulip tulip" });
  assert.equal(status, 0);
  const lines = (await text()).split("\n");
  assert.match(lines[1] ?? "", /^ann:\$scrypt\$.*::CN=Ann Example, O=Site$/);
  assert.deepEqual(lines.toSpliced(1, 1), USERS.split("\n").toSpliced(1, 1));
  assert.equal(await signIn(file, "ann", "tulip tulip tulip"), "CN=Ann Example, O=Site");
});

scene("passwd change sets another name, and re-enables a disabled user", async ({ run, file }) => {
  await run(["change", "ann", "--dn", "CN=Ann New", "--stdin", "--md5"], { input: "tulip tulip tulip" });
  await run(["change", "off", "--stdin", "--md5"], { input: "tulip tulip tulip" });
  assert.equal(await signIn(file, "ann", "tulip tulip tulip"), "CN=Ann New");
  assert.equal(await signIn(file, "ann", "sesame"), undefined);
  assert.equal(await signIn(file, "off", "tulip tulip tulip"), "CN=Off");
});

scene("passwd verify distinguishes right from wrong passwords", async ({ run }) => {
  const right = await run(["verify", "ann", "--stdin"], { input: "sesame\n" });
  assert.deepEqual(right, {
    status: 0,
    out: "The password is correct; ann is CN=Ann Example, O=Site\n",
    err: "",
  });
  const wrong = await run(["verify", "ann"], { answers: ["sesam"] });
  assert.equal(wrong.status, 1);
  assert.match(wrong.err, /The password is wrong/);
});

scene("passwd remove removes exactly the lines of a user", async ({ run, text }) => {
  assert.equal((await run(["remove", "ann"])).status, 0);
  assert.equal(await text(), USERS.replace(`${MD5_LINE}\n`, "").replace("ann::x:CN=a\n", ""));
}, `${USERS}ann::x:CN=a\n`);

scene(
  "passwd list prints users without their hashes, and reports bad lines",
  async ({ run, file }) => {
    assert.deepEqual(await run(["list"]), {
      status: 0,
      out: "ann\tmd5\tCN=Ann Example, O=Site\noff\tdisabled\nbad\\u001b[2J\tdisabled\n",
      err:
        `${file}:6: expected username:hash:salt:DN: without all four fields nobody can log in by this line, append what is missing or let authserver passwd write the line\n` +
        `${file}:7: expected a hash of 32 hexadecimal digits or $scrypt$…\n`,
    });
  },
  `${USERS}eve\nbad\x1b[2J:447abe:s:CN=x\n`,
);

scene("passwd list reads a file with a byte-order mark", async ({ run }) => {
  assert.equal((await run(["list"])).out, "ann\tmd5\tCN=Ann Example, O=Site\n");
}, `\ufeff${MD5_LINE}\n`);

const FAILURES: [string, string[], number, RegExp][] = [
  ["an existing user to add", ["add", "ann", "--dn", "CN=x", "--stdin"], 1, /has a user ann already/],
  ["a disabled user to add", ["add", "off", "--dn", "CN=x", "--stdin"], 1, /has a user off already/],
  ["no name", ["add", "bob", "--stdin"], 2, /Expected --dn DN/],
  ["an invalid name", ["add", "bob", "--dn", "bob", "--stdin"], 2, /behind --dn: .* character/],
  ["an empty name", ["add", "bob", "--dn", " ", "--stdin"], 2, /behind --dn: it is empty/],
  [
    "a name with a line end",
    ["add", "bob", "--dn", "CN=b\nroot::x:CN=r", "--stdin"],
    2,
    /control characters/,
  ],
  ["a colon in the user", ["add", "b:b", "--dn", "CN=b", "--stdin"], 2, /user name without colon/],
  ["a line end in the user", ["add", "b\nb", "--dn", "CN=b", "--stdin"], 2, /user name without/],
  ["a user like a comment", ["add", "#b", "--dn", "CN=b", "--stdin"], 2, /user name without/],
  ["blanks around the user", ["add", " b", "--dn", "CN=b", "--stdin"], 2, /user name without/],
  ["an empty user", ["add", "", "--dn", "CN=b", "--stdin"], 2, /user name of 1 to 256/],
  ["a long user", ["add", "b".repeat(257), "--dn", "CN=b", "--stdin"], 2, /user name of 1 to 256/],
  ["an unknown user to change", ["change", "eve", "--stdin"], 1, /has no user eve/],
  ["an unknown user to verify", ["verify", "eve", "--stdin"], 1, /has no user eve/],
  ["an unknown user to remove", ["remove", "eve"], 1, /has no user eve/],
  ["a disabled user to verify", ["verify", "off", "--stdin"], 1, /off cannot log in: the hash is empty/],
  ["no terminal", ["change", "ann"], 2, /No terminal .* expected --stdin/],
  ["an unknown option", ["list", "--all"], 2, /--all/],
  ["an unknown command", ["delete", "ann"], 2, /Unknown command "delete"/],
];

for (const [what, args, status, message] of FAILURES) {
  scene(`passwd refuses ${what} and leaves the file unchanged`, async ({ run, text }) => {
    const result = await run(args, { input: "sesame sesame" });
    assert.equal(result.status, status);
    assert.match(result.err, message);
    assert.equal(result.out, "");
    assert.equal(await text(), USERS);
  });
}

for (
  const [what, given, message] of [
    ["an empty password", { input: "\n" }, /not empty/],
    ["no password", { input: "" }, /not empty/],
    ["a password with NUL", { input: "a\0b" }, /without NUL/],
    ["a long password", { input: "ü".repeat(513) }, /at most 1024 bytes/],
    ["different passwords", { answers: ["one two three", "one two four"] }, /passwords differ/],
  ] as const
) {
  scene(`passwd refuses ${what}`, async ({ run, text }) => {
    const args = ["change", "ann", ..."input" in given ? ["--stdin"] : []];
    const { status, err } = await run(args, given);
    assert.equal(status, 1);
    assert.match(err, message);
    assert.equal(await text(), USERS);
  });
}

scene("passwd requires a file to change, verify, remove and list", async ({ run, folder }) => {
  for (
    const args of [["change", "ann", "--stdin"], ["verify", "ann", "--stdin"], ["remove", "ann"], ["list"]]
  ) {
    const { status, err } = await run(args, { input: "xx xx xx xx xx" });
    assert.equal(status, 1);
    assert.match(err, /There is no file/);
  }
  assert.deepEqual([...Deno.readDirSync(folder)], []);
}, "");

scene("passwd requires an existing folder for a new file", async ({ folder }) => {
  const io = recordedIo({ input: "xx xx xx xx xx" });
  const file = join(folder, "no", "users.txt");
  assert.equal(await passwd.run(["add", "bob", "--dn", "CN=b", "--stdin", "--md5", "--file", file], io), 1);
  assert.match(io.err, /no such folder/);
});

scene("passwd explains that a file is in the place of a folder", async ({ file }) => {
  const run = async (...args: string[]) => {
    const io = recordedIo({ input: "xx xx xx xx xx" });
    assert.equal(await passwd.run([...args, "--file", join(file, "users.txt")], io), 1);
    return io.err;
  };
  assert.match(await run("list"), /There is no file/);
  assert.match(await run("add", "bob", "--dn", "CN=b", "--stdin", "--md5"), /a file is in the place of its/);
});

scene("passwd ignores the lock of a killed passwd", async ({ run, text, file }) => {
  await Deno.writeTextFile(`${file}.lock`, "");
  assert.equal((await run(["remove", "ann"])).status, 0);
  assert.ok(!(await text()).includes("ann:"));
});

scene("concurrent passwd commands lose no changes", async ({ run, text }) => {
  const names = ["u1", "u2", "u3", "u4"];
  const results = await Promise.all(
    names.map((name) => run(["add", name, "--dn", "CN=u", "--md5", "--stdin"], { input: "xx xx xx xx xx" })),
  );
  assert.deepEqual(results.map(({ status }) => status), [0, 0, 0, 0]);
  const users = (await text()).split("\n").map((line) => line.split(":")[0]);
  for (const name of names) assert.ok(users.includes(name));
});

scene("passwd writes through a symbolic link", async ({ run, file, folder }) => {
  await Deno.rename(file, join(folder, "real.txt"));
  await Deno.symlink("real.txt", file);
  assert.equal((await run(["remove", "ann"])).status, 0);
  assert.ok((await Deno.lstat(file)).isSymlink);
  assert.ok(!(await Deno.readTextFile(join(folder, "real.txt"))).includes("ann:"));
});

scene("passwd narrows a mode that lets others read, and reports it", async ({ run, file }) => {
  await Deno.chmod(file, 0o644);
  const { err } = await run(["remove", "ann"]);
  assert.equal(await modeOf(file), 0o600);
  assert.equal(err, `Note on ${file}: its mode was 0644 and is now 0600\n`);
});

scene("passwd refuses a file that is not UTF-8", async ({ run, file }) => {
  await Deno.writeFile(file, new Uint8Array([0xff]));
  const { status, err } = await run(["list"]);
  assert.equal(status, 1);
  assert.match(err, /is not UTF-8 text/);
});

async function modeOf(file: string): Promise<number> {
  return ((await Deno.stat(file)).mode ?? 0) & 0o777;
}

for (
  const [password, expected] of [
    ["eleven char", /easily guessed: it has 11 characters, expected 12; use --force/],
    ["\u{1f511}".repeat(11), /it has 11 characters/],
    ["x", /it has 1 character,/],
    ["QWERTY123456", /everybody tries; use --force/],
    ["qazwsxedcrfv", /everybody tries/],
    ["justinbieber", /everybody tries/],
  ] as const
) {
  scene(`passwd accepts ${JSON.stringify(password)} only with --force`, async ({ run, text, file }) => {
    for (const args of [["add", "bob", "--dn", "CN=Bob"], ["change", "ann"]]) {
      const before = await text();
      const asked = await run([...args, "--md5"], { answers: [password, password] });
      const { status, err } = await run([...args, "--md5", "--stdin"], { input: password });
      assert.deepEqual([status, asked.status, await text()], [1, 1, before]);
      for (const message of [err, asked.err]) {
        assert.match(message, expected);
        assert(!message.includes(password) || password === "x");
      }
      assert.equal((await run([...args, "--md5", "--stdin", "--force"], { input: password })).status, 0);
      assert.notEqual(await signIn(file, args[1] ?? "", password), undefined);
    }
  });
}

scene("passwd accepts twelve characters that are not a common password", async ({ run, file }) => {
  await run(["change", "ann", "--md5", "--stdin"], { input: "twelve chars" });
  assert.equal(await signIn(file, "ann", "twelve chars"), "CN=Ann Example, O=Site");
});

Deno.test("passwd edits the file that the configuration names, and prints its path", async () => {
  await using site = await createSite();
  const io = recordedIo({ input: "a good password" });
  const args = ["add", "bob", "--config", site.main, "--dn", "CN=Bob", "--md5", "--stdin"];
  assert.equal(await passwd.run(args, io), 0, io.err);
  assert.equal(io.out, `User bob added to ${site.folder}/conf/users.txt\n`);
  assert.match(await Deno.readTextFile(`${site.folder}/conf/users.txt`), /^bob:/m);
});
