import { parsePasswordFile } from "../../src/authentication/password/password_table.ts";
import { PasswordCheck } from "../../src/authentication/password/password_check.ts";

const MD5 = "447abe86dd2c12ca422693a3089de5c6:Rk3_vT8mZq0LxN5w";
const LINES = Array.from({ length: 100_000 }, (_, i) => `user${i}:${MD5}:CN=User ${i}, OU=Lab, O=Site, C=DE`);
const TEXT = LINES.join("\n");
const TABLE = await parsePasswordFile(TEXT, "users.txt");
const CHECK = new PasswordCheck();
const { signal } = new AbortController();

Deno.bench("PasswordCheck, a right MD5 password among 100,000", async () => {
  await CHECK.entryOf(TABLE, "user4711", "sesame", { queueKey: "", known: false, signal });
});

Deno.bench("PasswordCheck, an unknown user among 100,000", async () => {
  await CHECK.entryOf(TABLE, "nobody", "sesame", { queueKey: "", known: false, signal });
});

Deno.bench("parsePasswordFile, 100,000 lines", { n: 5 }, async () => {
  await parsePasswordFile(TEXT, "users.txt");
});
