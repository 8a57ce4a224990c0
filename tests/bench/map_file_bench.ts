/**
 * Loads a map file of 100,000 users, then reloads it while a timer measures how long the event loop blocks.
 * Run: `deno run -A tests/bench/map_file_bench.ts`. Goal: load below 1 s, no wait above 50 ms.
 */
import { fileAttributeSource, type Matching } from "../../src/attributes/file/file_attribute_source.ts";
import { createLogger } from "../../src/logging/logger.ts";

const USERS = 100_000;

function jsonMap(rate: string): string {
  const entries = Array.from(
    { length: USERS },
    (_, i) =>
      `  "CN=Ann Example ${i}, OU=Lab 2, O=Site-A, C=DE": {
    "role": "user",
    "xlogin": ["a${i}", "b${i}"],
    "group": ["proj1", "proj2"],
    "uftpd.ALPHA.rateLimit": "${rate}"
  }`,
  );
  return `{\n${entries.join(",\n")}\n}\n`;
}

function xmlMap(rate: string): string {
  const entries = Array.from(
    { length: USERS },
    (_, i) =>
      `  <entry key="CN=Ann Example ${i}, OU=Lab 2, O=Site-A, C=DE">
    <attribute name="role"><value>user</value></attribute>
    <attribute name="xlogin"><value>a${i}</value></attribute>
    <attribute name="uftpd.ALPHA.rateLimit"><value>${rate}</value></attribute>
  </entry>`,
  );
  return `<fileAttributeSource>\n${entries.join("\n")}\n</fileAttributeSource>\n`;
}

/** Returns the longest delay of a timer of one millisecond during the work, in milliseconds. */
async function longestWait(work: Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const tick = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last - 1);
    last = now;
  }, 1);
  await work;
  clearInterval(tick);
  return longest;
}

async function measure(name: string, map: (rate: string) => string, matching: Matching): Promise<void> {
  const file = await Deno.makeTempFile();
  await Deno.writeTextFile(file, map("100M"));
  const reread = Promise.withResolvers<void>();
  const log = createLogger((line) => line.includes("file read again") && reread.resolve());

  const start = performance.now();
  const source = await fileAttributeSource({ name: "FILE", file, matching, log });
  const loaded = performance.now() - start;

  const idle = await longestWait(new Promise((resolve) => setTimeout(resolve, 1000)));
  await Deno.writeTextFile(file, map("200M"));
  const longest = await longestWait(reread.promise);
  source.close();
  await Deno.remove(file);
  const results = [
    `${USERS} users in ${loaded.toFixed(0)} ms`,
    `longest wait during reload ${longest.toFixed(0)} ms (idle: ${idle.toFixed(0)} ms)`,
    `${(Deno.memoryUsage().rss / 1e6).toFixed(0)} MB resident`,
  ];
  console.log(`${name}: ${results.join(", ")}`);
}

await measure("JSON", jsonMap, "strict");
await measure("XML", xmlMap, "strict");
