/** Pipelined requests, hundreds of conditions and ranges, and other users of the same host. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:tls";
import { ALICE } from "../system/running_service.ts";
import { SharingSystem } from "../system/sharing/sharing_system.ts";
import { Visitor } from "../system/visitor.ts";

const sharing = await SharingSystem.open();
const { system } = sharing;
Deno.test.afterAll(() => sharing[Symbol.asyncDispose]());

/** Sends a text at once on one connection, and returns everything that comes back. */
async function send(text: string): Promise<string> {
  const socket = connect({
    port: system.port,
    host: "127.0.0.1",
    servername: "localhost",
    ca: system.authority.certificate,
  });
  await once(socket, "secureConnect");
  socket.write(text);
  let answer = "";
  socket.setEncoding("utf8");
  for await (const part of socket) answer += part;
  return answer;
}

Deno.test("each request on a connection is identified by its own cookies, whatever came before or after", async () => {
  const alice = new Visitor(system);
  await alice.signIn(ALICE);
  const cookie = `Cookie: ${[...alice.cookies].map((pair) => pair.join("=")).join("; ")}\r\n`;
  const get = (head: string) => `GET /tokens HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n${head}\r\n`;
  const rounds = [cookie, "", cookie, "Cookie: a=b\r\n", cookie, "Connection: close\r\n"];
  const answer = await send(rounds.map(get).join(""));
  const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
  assert.deepEqual(statuses, ["200", "303", "200", "303", "200", "303"]);
  assert.equal(answer.match(/Signed in as <strong><bdi>alice/g)?.length, 3);
});

const many = (count: number, each: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => each(n)).join(",");
const DATE = "Sun, 06 Nov 1994 08:49:37 GMT";
/** Odd conditional and range headers, with the statuses allowed: whole file, part of it or refusal. */
const ODD: readonly (readonly [name: string, value: string, statuses: readonly number[]])[] = [
  ["Range", `bytes=${many(60, (n) => `${n % 9}-`)}`, [200, 416, 431]],
  ["Range", `bytes=${many(600, () => "0-")}`, [431]],
  ["Range", "bytes=0-0,-1", [200]],
  ["Range", "bytes=-0", [416, 200]],
  ["Range", "bytes=9-0", [200, 416]],
  ["Range", `bytes=0-${"9".repeat(200)}`, [200, 206]],
  ["Range", `bytes=${"9".repeat(200)}-`, [200, 416]],
  ["Range", "bytes=-99999999999999999999", [200, 206]],
  ["Range", "bytes=0x0-0x1", [200]],
  ["Range", "bytes=1e0-2", [200]],
  ["Range", "lines=0-1", [200]],
  ["Range", "bytes=\u00b2-3", [200, 400]],
  ["If-None-Match", many(180, (n) => `W/"${n}"`), [200]],
  ["If-None-Match", many(2_000, (n) => `"${n}"`), [431]],
  ["If-None-Match", '"'.repeat(2_000), [200]],
  ["If-None-Match", `"${"\\".repeat(2_000)}`, [200]],
  ["If-Match", many(180, (n) => `"${n}"`), [412]],
  ["If-Match", ",".repeat(2_000), [200, 412]],
  ["If-Modified-Since", "x".repeat(64), [200]],
  ["If-Modified-Since", "Sun, 06 Nov 99999 08:49:37 GMT", [200]],
  ["If-Unmodified-Since", DATE, [412]],
  ["If-Unmodified-Since", "-271821-04-20", [200]],
  ["If-Range", DATE, [200]],
  ["If-Range", '"'.repeat(256), [200]],
];
for (const [name, value, statuses] of ODD) {
  Deno.test(`${name}: ${value.slice(0, 40)} of ${value.length} characters is answered, and nothing breaks`, async () => {
    const id = await sharing.share("d/ten.txt");
    const headers = { [name]: value, ...(name === "If-Range" && { Range: "bytes=0-1" }) };
    const reply = await sharing.fetch(id, { headers });
    assert(statuses.includes(reply.status ?? 0), `${reply.status} ${reply.text}`);
    if (reply.status === 200) assert.equal(reply.text, "0123456789");
  });
}

const isRoot = Deno.uid() === 0;
Deno.test({
  name: "another user of the host reads neither data nor log, and the control socket does not answer them",
  ignore: !isRoot,
  fn: async () => {
    await Deno.chmod(system.folder, 0o755);
    await Deno.chmod(`${system.folder}/logs`, 0o755);
    const nobody = async (code: string) => {
      const { stdout } = await new Deno.Command("setpriv", {
        args: ["--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", code],
        stdout: "piped",
        stderr: "null",
      }).output();
      return new TextDecoder().decode(stdout).trim();
    };
    assert.equal(await nobody("id -u"), "65534");
    for (const path of ["data/shares.sqlite", "conf/auth-key.pem", "conf/users.txt"]) {
      assert.equal(await nobody(`cat ${system.folder}/${path} | wc -c`), "0", path);
    }
    const socket = `${system.folder}/logs/control.sock`;
    assert.equal(
      await nobody(`test -S ${socket} && test ! -w ${socket} && test ! -r ${socket} && echo closed`),
      "closed",
    );
  },
});

Deno.test("none of these requests caused an error of the service", () => {
  // The service is not ready while it starts.
  const served = system.log.filter((line) => !line.includes("route=/health/ready status=503"));
  assert.deepEqual(served.filter((line) => / (?:ERROR|error) |status=5/.test(line)), []);
});
