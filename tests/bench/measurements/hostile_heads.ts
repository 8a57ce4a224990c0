import fc from "fast-check";
import { createLogger } from "../../../src/logging/logger.ts";
import { HEADER_LIMITS } from "../../../src/service/http/request_checks.ts";
import { loadSnapshot } from "../../../src/service/assembly/load_snapshot.ts";
import { HeaderList, readTarget } from "../../../src/model/http_message.ts";
import { createService, type Service } from "../../../src/service/service.ts";
import { createSite, MAP, PASSWORDS } from "../../system/running_service.ts";
import { ENDLESS, SHARING } from "../bench_site.ts";
import type { Measurement } from "../figure.ts";

const HEADS = 12_000;
/** Largest head that the edge accepts, in bytes. */
const HEAD_BYTES = 16 * 1024;
/** Time above which a request is measured again, in milliseconds: the machine may have been busy. */
const DOUBTFUL_MS = 0.3;
const TRIES = 8;

interface Head {
  readonly method: string;
  readonly target: string;
  /** Names and values in turn. */
  readonly headers: string[];
}

const PIECES = [
  ..." \t,;:=/\\\"'.%*?&+-[](){}<>a0~\u00e9",
  " ,",
  ", ",
  ";q=",
  "a,",
  "a/b,",
  "text/html;q=0.1,",
  "*/*;",
  '\\"',
  "%2e",
  "%41",
  "%",
  "../",
  "/./",
  "a=b&",
  'W/"a",',
  "CN=a,",
  "\\,",
  "e30.",
  "eyJhbGciOiJFZERTQSJ9.",
  "QUJD",
  "1-2,",
  "x:",
  "uid:a,",
] as const;
const TARGETS = [
  "/",
  "/rest/auth",
  "/rest/auth/HPC",
  "/rest/share/HPC",
  "/rest/access/HPC/",
  "/rest/",
  "/docs?",
];
const BEGINNINGS = [
  "",
  "Basic ",
  "Bearer ",
  "Basic YWxpY2U6",
  "Bearer eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhbGljZSJ9.",
  "bytes=",
  "text/html",
  "uid:",
  "https://",
  'DN="',
  '"',
];
const NAMES = [...HEADER_LIMITS.keys(), "Host", "Cookie", "X-Forwarded-For", "A"];

/** Generates texts of up to about `longest` characters that repeat one piece between their ends. */
const filled = (longest: number) =>
  fc.tuple(
    fc.constantFrom(...BEGINNINGS),
    fc.constantFrom(...PIECES),
    fc.integer({ min: 0, max: 100 }),
    fc.constantFrom("", "x", "=", '"', "/"),
  ).map(([begin, piece, percent, end]) =>
    begin + piece.repeat(Math.max(0, percent / 100 * longest - begin.length) / piece.length) + end
  );

/** Heads with headers up to their limits and longer, repeated as often as they fit. */
const HEAD: fc.Arbitrary<Head> = fc.record({
  method: fc.constantFrom("GET", "GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"),
  target: fc.oneof(
    fc.constantFrom(...TARGETS),
    fc.tuple(fc.constantFrom(...TARGETS), filled(HEAD_BYTES)).map(([path, rest]) =>
      path + rest.replace(/[^!-~]|#/g, "/")
    ),
  ),
  headers: fc.array(
    fc.constantFrom(...NAMES).chain((name) =>
      fc.tuple(
        fc.oneof(filled(HEADER_LIMITS.get(name) ?? HEAD_BYTES), filled(HEAD_BYTES)),
        fc.constantFrom(1, 1, 1, 2, 1000),
      ).map(([value, times]): string[] => Array.from({ length: times }, () => [name, value.trim()]).flat())
    ),
    { maxLength: 5 },
  ).map((headers) => headers.flat()),
}).map(({ method, target, headers }) => {
  // The edge refuses larger heads.
  let left = HEAD_BYTES - method.length - Math.min(target.length, HEAD_BYTES);
  const kept: string[] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const [name = "", value = ""] = headers.slice(i, i + 2);
    left -= name.length + value.length + 4;
    if (left < 0) break;
    kept.push(name, value);
  }
  return { method, target: target.slice(0, HEAD_BYTES - method.length), headers: kept };
});

export const hostileHeads: Measurement = {
  name: "hostile-heads",
  summary:
    `Processor time of the core for a request without valid credentials, the slowest of ${HEADS} generated heads`,
  note:
    "The heads are up to 16 KiB long, of all targets, methods and headers that the service knows, filled with what parsers stumble over. Each comes from another address.",
  async run() {
    await using site = await createSite({
      servers: { HPC: [ENDLESS] },
      passwords: PASSWORDS,
      map: JSON.stringify(MAP),
      ...SHARING,
      properties: {
        ...SHARING.properties,
        "container.security.rest.authentication.order": "PASSWORD SSHKEY",
        "container.security.rest.authentication.SSHKEY.file": "{folder}/conf/ssh-keys.txt",
        "container.security.rest.authentication.SSHKEY.useAuthorizedKeys": "false",
      },
    });
    await site.replace("conf/ssh-keys.txt", "");
    await Deno.mkdir(`${site.folder}/data`, { recursive: true });
    const { snapshot, diagnostics } = await loadSnapshot(site.main, { environment: () => undefined });
    if (snapshot === undefined) throw new Error(diagnostics.map(({ expected }) => expected).join("\n"));
    const log = createLogger(() => {}, { threshold: "info" });
    const service = await createService({ ...snapshot, generation: 1, upSince: Date.now(), port: 0 }, {
      log,
    });
    try {
      return await worstOf(service);
    } finally {
      await service.close();
    }
  },
};

async function worstOf(service: Pick<Service, "answer">) {
  const { signal } = new AbortController();
  let callers = 0;
  const timed = async ({ method, target, headers }: Head) => {
    // If the edge refuses the target, only the headers are tried.
    const read = readTarget(target) ?? { path: "/rest/auth", query: "" };
    const client = { address: `10.${callers >> 16 & 255}.${callers >> 8 & 255}.${callers++ & 255}` };
    const began = performance.now();
    const request = { method, ...read, headers: new HeaderList(headers), client, body: null };
    const { status } = await service.answer(request, signal);
    const ms = performance.now() - began;
    if (status >= 500) throw new Error(`${status} to ${method} ${target.slice(0, 200)}`);
    return ms;
  };
  const heads = fc.sample(HEAD, { numRuns: HEADS, seed: 1 });
  for (const head of heads.slice(0, 1000)) await timed(head);
  const times: number[] = [];
  for (const head of heads) {
    let ms = await timed(head);
    for (let i = 1; i < TRIES && ms > DOUBTFUL_MS; i++) ms = Math.min(ms, await timed(head));
    times.push(ms);
  }
  times.sort((a, b) => a - b);
  return [
    { what: "the worst", value: times.at(-1) ?? NaN, unit: "ms", target: { atMost: 2 } },
    { what: "the middle", value: times[times.length >> 1] ?? NaN, unit: "ms" },
  ];
}
