/** A mutant that no test notices, and why that is well. */
export interface KnownSurvivor {
  readonly file: string;
  /** The line it is in, without the blanks around it. */
  readonly at: string;
  /** As the table of `deno task mutate` shows it. */
  readonly change: string;
  /** Whether it behaves like the original, as far as anybody could see: it does not count then. */
  readonly equivalent: boolean;
  readonly why: string;
}

export const KNOWN_SURVIVORS: readonly KnownSurvivor[] = [
  {
    file: "src/daemon/crowd.ts",
    at: "return tooMany <= 0 || taken < PLACES - 1 ? 0 : tooMany * this.#quickestMs;",
    change: "tooMany <= 0 → (tooMany < 0)",
    equivalent: true,
    why: "none too many is multiplied by",
  },
  {
    file: "src/daemon/queue.ts",
    at: "if (ms > 0 && !this.#closed) await new Promise((resolve) => setTimeout(resolve, ms));",
    change: "0 → 1",
    equivalent: true,
    why: "timers do not tell less than a millisecond from none",
  },
  {
    file: "src/daemon/daemon_pool.ts",
    at: "userInfoReply: 20_000,",
    change: "20_000 → 40000",
    equivalent: false,
    why: "twenty real seconds would pass; that the limit which is set counts is tested",
  },
  {
    file: "src/edge/connection_watch.ts",
    at: "const interval = Math.min(limits.silentMs, limits.keepAliveMs) / 4;",
    change: "4 → 5",
    equivalent: true,
    why: "connections are looked at a little more often; cuts come within what is promised",
  },
  {
    file: "src/edge/connection_watch.ts",
    at: "const watched = { underWay: false, moved: -1, movedAt: 0 };",
    change: "1 → 2",
    equivalent: true,
    why: "any number below 0 is one that no connection has moved",
  },
  {
    file: "src/model/disguise.ts",
    at: "if (/^[!-~]+(?: [!-~]+)*$/.test(text)) return undefined; // nearly all are plain",
    change: "/^[!-~]+(?: [!-~]+)*$/.test(text) → false",
    equivalent: true,
    why: "what is plain passes all that follows; it takes longer",
  },
  {
    file: "src/model/trust/certificate_facts.ts",
    at: "const bits = usage === undefined ? undefined : readElement(usage).content[1] ?? 0;",
    change: "0 → 1",
    equivalent: true,
    why: "of a key usage without bits; the bit that is looked at is in neither number",
  },
  {
    file: "src/model/trust/revocation.ts",
    at: "return significant(serial?.content ?? Buffer.alloc(0));",
    change: "0 → 1",
    equivalent: true,
    why: "zeros in front are left out",
  },
  {
    file: "src/pages/qr_code/versions.ts",
    at: "const distance = 2 * Math.ceil((size - 13) / (2 * gaps));",
    change: "13 → 14",
    equivalent: true,
    why: "sizes are odd: what is half of one less is rounded up to the same",
  },
  {
    file: "src/regulation/failure_table.ts",
    at: 'return parseInt(hash("sha256", this.#sharedKey + key, "hex").slice(0, 8), 16) % SHARED_RECORDS;',
    change: "8 → 9",
    equivalent: true,
    why: "which of the places a key has is chance either way",
  },
  {
    file: "src/regulation/recent_keys.ts",
    at: "#latest = 0;",
    change: "0 → 1",
    equivalent: true,
    why: "where nothing was seen yet, both ways of taking over come to the same",
  },
  {
    file: "src/sharing/import/csv_rows.ts",
    at: "for (let at = 0; at < text.length || fields.length > 0;) {",
    change: "at < text.length → (at <= text.length)",
    equivalent: true,
    why: "one more line without anything, and blank lines are left out",
  },
  {
    file: "src/command/diagnosis/service_account.ts",
    at: "const mode = about.mode ?? 0o777;",
    change: "0o777 → 1022",
    equivalent: true,
    why: "where files have accounts they have modes",
  },
  {
    file: "src/command/files/migration/java_archive.ts",
    at: "await Deno.writeFile(target, LEFT_EMPTY.test(path) ? new Uint8Array() : content, { mode: 0o600 });",
    change:
      "await Deno.writeFile(target, LEFT_EMPTY.test(path) ? new Uint8Array() : content… → void Deno.writeFile(target, LEFT_EMPTY.test(path) ? new Uint8Array() : content,…",
    equivalent: false,
    why:
      "the file is there when its mode is set, since one thread takes both in turn: it would fail by chance only",
  },
  {
    file: "src/pages/qr_code/modules.ts",
    at: "for (let i = 0; i < 15; i++) {",
    change: "15 → 16",
    equivalent: true,
    why: "a sixteenth bit would stand outside of the code, where nothing is drawn",
  },
  {
    file: "src/pages/qr_code/reed_solomon.ts",
    at: "return POWERS[exponent] ?? 0;",
    change: "0 → 1",
    equivalent: true,
    why: "the table has a power for each exponent that is asked for",
  },
  {
    file: "src/command/files/migration/java_installation.ts",
    at:
      "for (const { name, isDirectory, isSymlink } of entries.toSorted((a, b) => a.name < b.name ? -1 : 1)) {",
    change: "a.name < b.name → (a.name <= b.name)",
    equivalent: true,
    why: "no two entries of a folder have one name",
  },
  {
    file: "src/command/serving/serve.ts",
    at: "await giveUpSurroundings();",
    change: "await giveUpSurroundings() → void giveUpSurroundings()",
    equivalent: true,
    why:
      "the rights are given up in the same turn of the event loop; only a line on the console can come between",
  },
  {
    file: "src/service/http/acceptance.ts",
    at: "let best = { precision: -1, quality: 0 };",
    change: "1 → 2",
    equivalent: true,
    why: "both are below the precision of any range",
  },
  {
    file: "src/service/http/header_limits.ts",
    at: '["Host", 512],',
    change: "512 → 1024",
    equivalent: false,
    why: "that there is a bound is tested; how much longer than any name it is was chosen, not promised",
  },
  {
    file: "src/daemon/daemon_pool.ts",
    at: "handshake: 5_000,",
    change: "5_000 → 10000",
    equivalent: false,
    why:
      "five real seconds would pass; the tests of faults, which are not asked, hold the time of the answer",
  },
  {
    file: "src/logging/audit_journal.ts",
    at: "if (!(error instanceof Deno.errors.BadResource)) throw error; // else closed already",
    change: "!(error instanceof Deno.errors.BadResource) → false",
    equivalent: false,
    why: "closing a connection throws nothing else that a test could cause",
  },
  {
    file: "src/store/postgres/postgres_database.ts",
    at: "for (let pause = FIRST_PAUSE_MS;; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {",
    change: "2 → 3",
    equivalent: false,
    why: "how fast the pauses between two tries grow to the longest was chosen, not promised",
  },
  {
    file: "src/store/postgres/postgres_watch.ts",
    at: "cleared = 0;",
    change: "0 → 1",
    equivalent: true,
    why: "it grows by two seconds, and is compared with ten minutes",
  },
  {
    file: "src/sharing/share_id.ts",
    at: "for (const byte of crypto.getRandomValues(new Uint8Array(32))) {",
    change: "32 → 64",
    equivalent: true,
    why: "of as many random bytes as are made those that are needed are taken",
  },
  {
    file: "src/service/identify.ts",
    at: "await parts.signIns?.end(token);",
    change: "await parts.signIns?.end(token) → void parts.signIns?.end(token)",
    equivalent: false,
    why:
      "who is banned is refused either way, and signed out; what a store says that is away would be told elsewhere",
  },
  {
    file: "src/config/key.ts",
    at: 'const type = minBytes > 0 ? `a secret of at least ${minBytes} bytes` : "a secret";',
    change: "0 → 1",
    equivalent: true,
    why: "no key asks for one byte",
  },
  {
    file: "src/model/distinguished_name.ts",
    at: 'if (error instanceof TypeError) this.#fail("the escaped bytes are not UTF-8", start);',
    change: "error instanceof TypeError → true",
    equivalent: true,
    why: "the decoder throws nothing else",
  },
  {
    file: "src/outgoing/open_tls.ts",
    at: "const buffer = new Uint8Array(16 * 1024);",
    change: "16 → 32",
    equivalent: true,
    why: "how much is read at a time is nobody's business",
  },
  {
    file: "src/outgoing/remote_system.ts",
    at: "const WAITING = 512;",
    change: "512 → 1024",
    equivalent: false,
    why: "that there is a bound is tested; how many it lets wait was chosen, not promised",
  },
  {
    file: "src/reservations/reservation_times.ts",
    at: "if (error instanceof RangeError) return undefined; // such as the 30th of February",
    change: "error instanceof RangeError → true",
    equivalent: true,
    why: "texts of these forms make Temporal throw nothing else",
  },
  {
    file: "src/regulation/memory.ts",
    at: "until: record.until === 0 ? 0 : record.until + later,",
    change: "record.until === 0 → false",
    equivalent: true,
    why: "no wait and one that ended before the time began are alike",
  },
  {
    file: "src/regulation/regulator.ts",
    at: "if (since > failures && since >= total) return []; // it came late: more is known by now",
    change: "since >= total → (since > total)",
    equivalent: true,
    why: "what is known already is learned once more",
  },
  {
    file: "src/regulation/shared/shared_failures.ts",
    at: "const REST_MS = 1000;",
    change: "1000 → 2000",
    equivalent: false,
    why:
      "that a database which failed is left alone for a while is tested; how long was chosen, not promised",
  },
  {
    file: "src/regulation/shared/shared_regulation.ts",
    at: "if (passed.length > 0) {",
    change: "passed.length > 0 → (passed.length >= 0)",
    equivalent: true,
    why: "that nobody passed is told in vain",
  },
  {
    file: "src/attributes/file/linear_pattern.ts",
    at: "if (this.#steps.length >= MAX_STEPS) {",
    change: "this.#steps.length >= MAX_STEPS → (this.#steps.length > MAX_STEPS)",
    equivalent: false,
    why: "that there is a bound is tested; one step more or less was never promised",
  },
  {
    file: "src/regulation/shared/shared_failures.ts",
    at: 'if (counted === "pairs") isNewName = total === 1;',
    change: 'counted === "pairs" → true',
    equivalent: true,
    why: "addresses come right behind pairs, and nothing after them asks",
  },
  {
    file: "src/logging/logger.ts",
    at: "if (at !== written.at) written = { at, text: new Date(at).toISOString() };",
    change: "at !== written.at → true",
    equivalent: true,
    why: "the same moment is written the same way again",
  },
  {
    file: "src/instances/shared_clock.ts",
    at: 'const direction = aheadMs > 0 ? "ahead of" : "behind";',
    change: "0 → 1",
    equivalent: true,
    why: "what is told is off by half a minute at least",
  },
  {
    file: "src/regulation/shared/shared_failures.ts",
    at: "if (wait > 0) yield* row(SQL.keep, { counted, name, wait });",
    change: "wait > 0 → (wait >= 0)",
    equivalent: true,
    why: "nothing is added to the end",
  },
  {
    file: "src/outgoing/remote_system.ts",
    at: "const { connected, throttled, retryAfterSeconds: asked = 0 } = error;",
    change: "0 → 1",
    equivalent: true,
    why: "a second is the shortest pause, and who throttles always says how long",
  },
  {
    file: "src/store/postgres/postgres_schema.ts",
    at: "worksWith: 0,",
    change: "0 → 1",
    equivalent: true,
    why: "every service knows the first version of the tables",
  },
  {
    file: "src/store/postgres/postgres_connection.ts",
    at: "port: 5432,",
    change: "5432 → 10864",
    equivalent: true,
    why: "the driver is given a socket; this is for messages of its own, which nobody sees",
  },
  {
    file: "src/store/postgres/postgres_database.ts",
    at: "if (!maybeLater || !this.#isOpen || this.#servers.areAway || deadline.left() <= pause) throw error;",
    change: "deadline.left() <= pause → (deadline.left() < pause)",
    equivalent: true,
    why: "a pause to the end of the time and none come to the same end",
  },
];
