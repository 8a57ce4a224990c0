/**
 * Parsers of what strangers, users and daemons send in headers, key lines and listings do work that grows with the text,
 * and no faster: each is timed at the longest text that it may get, at twice and at four times that, filled with what makes careless ones slow. Twice the text may take 2.6 times
 * the time.
 */
import assert from "node:assert/strict";
import { parsePreferences } from "../../src/attributes/preferences.ts";
import { parsePattern } from "../../src/attributes/file/pattern_syntax.ts";
import { parseCredentials } from "../../src/authentication/parse_credentials.ts";
import { parseSignedToken } from "../../src/authentication/signed_token.ts";
import { parseKeyLine } from "../../src/authentication/ssh_key/authorized_keys.ts";
import { parseConsignor } from "../../src/authentication/x509.ts";
import { comparableForm } from "../../src/model/distinguished_name.ts";
import { HeaderList } from "../../src/model/header_list.ts";
import { parseByteRange } from "../../src/resource/access/byte_range.ts";
import { evaluateConditions } from "../../src/resource/access/validators.ts";
import { parseServerAddress } from "../../src/resource/requested_server.ts";
import { Acceptance } from "../../src/service/http/acceptance.ts";
import { originOf } from "../../src/service/http/forwarding.ts";
import { containedPath } from "../../src/sharing/rules/contained_path.ts";
import { matchesPattern } from "../../src/sharing/rules/path_pattern.ts";
import { parseEntry } from "../../src/daemon/session/entry.ts";
import { processorTime } from "../model/processor_time.ts";
import { publicKeyWords, publicLine } from "../authentication/ssh_key/user_keys.ts";

const KIB = 1024;
/** How much longer twice the text may take. */
const MOST = 2.6;
/** Milliseconds that are no growth but chance. */
const SLACK_MS = 0.3;
const TRIES = 9;

interface Subject {
  readonly name: string;
  /** Characters that may arrive. */
  readonly longest: number;
  /** Texts in which the filling stands for `…`. */
  readonly forms?: readonly string[];
  readonly parse: (text: string) => unknown;
}

const PIECES = [
  ..." \t\n,;:=/\\\"'([{<*a0-+.&#%|~\u00e9\u0301\u{1f511}",
  "\r\n",
  "%41",
  "%2e%2e/",
  "../",
  "//",
  "/*",
  "/**/",
  "a,",
  "a=",
  "a=b,",
  "a:",
  "CN=a,",
  "CN=a+",
  "\\,",
  '\\"',
  '"a",',
  '{"a":',
  '"a":1,',
  "[[",
  "[]",
  "()",
  "<a>",
  "<a b='c'>",
  "<a/>",
  "<!--",
  "&amp;",
  "*a",
  "?*",
  "a.",
  "e30.",
  "QUJD",
  "text/html;q=0.1,",
  'W/"a",',
  "-----BEGIN CERTIFICATE-----\n",
  "-----BEGIN A-----\n-----END B-----\n",
  "k=v\n",
  "a\\\n",
  "ann:x:",
  "Accepted key 0: a\n",
] as const;

const headers = (name: string, text: string) => new HeaderList([name, text]);
const KEY = publicLine("user_ed25519");
const [TYPE, BLOB] = publicKeyWords("user_ed25519");
const GATEWAY = { enabled: true, trustedPeers: ["10.0.0.0/8"], certificate: undefined };

const SUBJECTS: readonly Subject[] = [
  {
    name: "Acceptance",
    longest: KIB,
    forms: ["…", "text/html…x", "…x"],
    parse: (text) => Acceptance.of(text).prefersHtml,
  },
  {
    name: "parseCredentials()",
    longest: 16 * KIB,
    forms: ["…", "Basic …", "Bearer …", "Bearer …=x"],
    parse: (text) => parseCredentials(headers("Authorization", text), { clientAddress: "192.0.2.1" }),
  },
  {
    name: "parseSignedToken()",
    longest: 8 * KIB,
    forms: ["…", "eyJhbGciOiJFZERTQSJ9.….AAAA"],
    parse: parseSignedToken,
  },
  {
    name: "parseConsignor()",
    longest: 8 * KIB,
    forms: ['DN="…";DSIG=QUJD', "…", 'DSIG=…;DN="CN=a"'],
    parse: parseConsignor,
  },
  {
    name: "comparableForm()",
    longest: 4 * KIB,
    forms: ["…", "CN=…", 'CN="…"', "CN=…x", "CN=#…"],
    parse: comparableForm,
  },
  {
    name: "parsePreferences()",
    longest: 4 * KIB,
    forms: ["…", "uid:…"],
    parse: (text) => parsePreferences([text]),
  },
  {
    name: "originOf()",
    longest: 2 * KIB,
    forms: ["…", "https://…", "https://a/…"],
    parse: (text) =>
      originOf(
        { headers: headers("X-UNICORE-Gateway", text), client: { address: "10.0.0.1" } },
        GATEWAY,
        "https://x",
      ),
  },
  {
    name: "parseByteRange()",
    longest: 256,
    forms: ["…", "bytes=…", "bytes=…-"],
    parse: (text) => parseByteRange(text, 100),
  },
  {
    name: "evaluateConditions()",
    longest: 2 * KIB,
    parse: (text) => evaluateConditions(headers("If-None-Match", text), { etag: `"abc"`, settled: true }),
  },
  { name: "parseServerAddress()", longest: 16 * KIB, forms: ["…", "HPC-…"], parse: parseServerAddress },
  {
    name: "containedPath()",
    longest: 16 * KIB,
    parse: (text) => containedPath({ path: "/data/d/" }, text.split("/")),
  },
  {
    name: "matchesPattern() of an operator's pattern",
    longest: 4 * KIB,
    forms: ["…", "/a…b"],
    parse: (text) => matchesPattern("/data/*[ab]*.t?t", text),
  },
  {
    name: "parseKeyLine()",
    longest: 16 * KIB,
    forms: [
      "…",
      `${KEY}…x`,
      `from="…" ${KEY}`,
      `environment="A=…" ${KEY}`,
      `…${KEY}`,
      `${TYPE}…${BLOB}`,
      `no-pty,…`,
    ],
    parse: parseKeyLine,
  },
  {
    name: "parseEntry()",
    longest: 16 * KIB,
    forms: ["…", "size=1;…; a", "type=file;perm=r; …"],
    parse: parseEntry,
  },
  { name: "parsePattern()", longest: KIB, forms: ["…", "[…]", "(…)"], parse: parsePattern },
];

/** Milliseconds of this thread that a text takes; an error is an answer too. */
function time(parse: Subject["parse"], text: string): Promise<number> {
  return processorTime(async () => {
    try {
      await parse(text);
    } catch {
      // Refused.
    }
  });
}

for (const { name, longest, forms = ["…"], parse } of SUBJECTS) {
  Deno.test(`${name} takes no more than ${MOST} times as long for twice the text`, async () => {
    for (const form of forms) {
      for (const piece of PIECES) {
        const texts = [1, 2, 4].map((times) => {
          const room = Math.max(0, longest * times - form.length);
          return form.replace("…", () => piece.repeat(room / piece.length));
        });
        const best = texts.map(() => Infinity);
        for (let i = 0; i < TRIES; i++) {
          for (const [at, text] of texts.entries()) {
            best[at] = Math.min(best[at] ?? Infinity, await time(parse, text));
          }
          if (!grows(best)) break;
        }
        assert(!grows(best), `${form} with ${JSON.stringify(piece)}: ${best.join(", ")} ms`);
      }
    }
  });
}

/** Whether four times the text takes too long: over two doublings, chance counts for less. */
function grows([once = 0, , fourTimes = 0]: readonly number[]): boolean {
  return fourTimes > MOST * MOST * once + SLACK_MS;
}
