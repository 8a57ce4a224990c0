import assert from "node:assert/strict";
import { nameServers } from "../../src/workers/name_servers.ts";

async function read(text: string): Promise<readonly string[]> {
  const file = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(file, text);
    return await nameServers(file);
  } finally {
    await Deno.remove(file);
  }
}

Deno.test("nameServers() reads addresses in the forms of resolv.conf(5), and nothing else", async () => {
  const text = [
    "# nameserver 192.0.2.1",
    "; nameserver 192.0.2.2",
    "search example.org",
    "nameserver 192.0.2.3",
    "nameserver\t2001:DB8::1 # of the campus",
    "nameserver fe80::1%eth0",
    "nameserver dns.example.org",
    "nameservers 192.0.2.4",
    "options ndots:2",
  ].join("\n");
  assert.deepEqual(await read(text), ["192.0.2.3", "2001:db8::1"]);
  assert.deepEqual(await read(""), []);
});

Deno.test("nameServers() of a machine without the file are none", async () => {
  assert.deepEqual(await nameServers("/nonexistent/resolv.conf"), []);
});
