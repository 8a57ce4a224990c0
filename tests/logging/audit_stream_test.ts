import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { AuditStream, systemdJournal } from "../../src/logging/audit_stream.ts";
import { Sink } from "../../src/logging/sink.ts";
import { createLogger, SILENT } from "../../src/logging/logger.ts";

/** Stand-in for the journal that records the text of each stream, in order of arrival. */
class Journal implements AsyncDisposable {
  readonly path: string;
  readonly streams: string[] = [];
  readonly #folder: string;
  #listener: Deno.UnixListener | undefined;
  #served: Promise<unknown>[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #open: Deno.UnixConn[] = [];

  private constructor(folder: string) {
    this.#folder = folder;
    this.path = `${folder}/stdout`;
  }

  static async create(): Promise<Journal> {
    return new Journal(await Deno.makeTempDir());
  }

  start({ reads = true } = {}): void {
    const listener = Deno.listen({ transport: "unix", path: this.path });
    this.#listener = listener;
    this.#served.push((async () => {
      for await (const connection of listener) {
        this.#open.push(connection);
        if (reads) this.#served.push(this.#read(connection).catch(() => {}));
      }
    })());
  }

  async #read(connection: Deno.UnixConn): Promise<void> {
    const at = this.streams.push("") - 1;
    for await (const text of connection.readable.pipeThrough(new TextDecoderStream())) {
      this.streams[at] += text;
      for (const look of this.#waiting) look();
    }
  }

  async stop(): Promise<void> {
    this.#listener?.close();
    for (const connection of this.#open.splice(0)) {
      try {
        connection.close();
      } catch {
        // The other side has closed the stream.
      }
    }
    await Promise.all(this.#served.splice(0));
    await Deno.remove(this.path).catch(() => {});
  }

  /** Waits until a text has arrived. */
  async has(text: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => this.streams.join("").includes(text) && resolve();
    this.#waiting.add(look);
    look();
    await promise;
    this.#waiting.delete(look);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await Deno.remove(this.#folder, { recursive: true });
  }
}

const OPENING = "authserver-audit\n\n6\n0\n0\n0\n0\n";
const logger = (lines: string[]) => createLogger((line) => lines.push(line.slice(25)));

Deno.test("AuditStream to the journal identifies itself, then sends lines in one stream", async () => {
  await using journal = await Journal.create();
  journal.start();
  const audit = new AuditStream(systemdJournal(journal.path), new Sink("audit", SILENT));
  audit.write(["a", "b"]);
  audit.write(["c"]);
  assert.deepEqual(await audit.close(), []);
  await journal.has("c\n");
  assert.deepEqual(journal.streams, [`${OPENING}a\nb\nc\n`]);
});

Deno.test("AuditStream to the journal buffers lines while there is no journal, and sends them in order", async () => {
  await using journal = await Journal.create();
  const log: string[] = [];
  const audit = new AuditStream(systemdJournal(journal.path), new Sink("audit", logger(log)));
  audit.write(["a"]);
  await until(() => log.length !== 0, { everyMs: 1 });
  journal.start();
  audit.retry();
  await journal.has("a\n");
  audit.write(["b"]);
  audit.write(["c"]);
  await journal.has("c\n");
  assert.deepEqual(journal.streams, [`${OPENING}a\nb\nc\n`]);
  assert.match(log[0] ?? "", /^error audit lines not written to=\S+ error=/);
  assert.match(log[1] ?? "", /^warn {2}audit lines written again lost=0/);
  await audit.close();
});

Deno.test("AuditStream to the journal opens a new stream after the journal has closed the previous one", async () => {
  await using journal = await Journal.create();
  journal.start();
  const audit = new AuditStream(systemdJournal(journal.path), new Sink("audit", SILENT));
  audit.write(["a"]);
  await journal.has("a\n");
  await journal.stop();
  journal.start();
  audit.write(["b"]);
  await journal.has("b\n");
  assert.deepEqual(journal.streams, [`${OPENING}a\n`, `${OPENING}b\n`]);
  await audit.close();
});

Deno.test("AuditStream to the journal returns the lines that a stalled journal did not read", async () => {
  await using journal = await Journal.create();
  journal.start({ reads: false });
  const log: string[] = [];
  const audit = new AuditStream(systemdJournal(journal.path), new Sink("audit", logger(log)));
  const lines = Array.from({ length: 9000 }, (_, i) => `${i} ${"x".repeat(200)}`);
  audit.write(lines);
  await new Promise((resolve) => setTimeout(resolve, 10)); // lets other tasks run
  audit.write(["last"]);
  const left = await audit.close();
  assert(left.length > 1000 && left.length < 9000, String(left.length));
  assert.equal(left.at(-1), "last");
  assert.equal(left[0], lines[9001 - left.length]);
});

Deno.test("AuditStream to the journal buffers a limited number of lines without a journal, and reports losses", async () => {
  await using journal = await Journal.create();
  const log: string[] = [];
  const audit = new AuditStream(systemdJournal(journal.path), new Sink("audit", logger(log)));
  for (let i = 0; i < 11_000; i++) audit.write([`${i}`]);
  const left = await audit.close();
  assert.deepEqual([left.length, left[0], left.at(-1)], [10_000, "1000", "10999"]);
  assert.equal(log.length, 1);
});
