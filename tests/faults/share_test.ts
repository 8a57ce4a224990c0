/**
 * Every fault of a daemon's sessions (daemon-protocol.md 7) during the download of a share; faults that last
 * until the timeout of a daemon need the long run.
 */
import assert from "node:assert/strict";
import type { SessionFault } from "../daemon_simulator/session_fault.ts";
import { ALICE } from "../system/running_service.ts";
import { SharingSystem } from "../system/sharing/sharing_system.ts";
import { LONG } from "../long/results.ts";
import { causeIn, note, within } from "./fault_table.ts";

interface Fault {
  readonly what: string;
  readonly fault: SessionFault;
  /** Status of the answer; `cut` if it begins and ends too early. */
  readonly status: number | "cut";
  /** Path of the request; default: a file of ten bytes. */
  readonly path?: string;
  readonly long?: boolean;
}

const FAULTS: readonly Fault[] = [
  { what: "closes at once", fault: { kind: "close-at-once" }, status: 502 },
  { what: "never greets", fault: { kind: "no-greeting" }, status: 504, long: true },
  {
    what: "does not know the account",
    fault: { kind: "reply", to: "PASS", reply: "530 Not logged in: unknown user" },
    status: 502,
  },
  {
    what: "has too many sessions",
    fault: {
      kind: "reply",
      to: "PASS",
      reply: "500 Too many active transfer requests / sessions for 'alice'",
    },
    status: 503,
  },
  { what: "closes after the login", fault: { kind: "close-after-login" }, status: 404 },
  { what: "never answers a command", fault: { kind: "hang", on: "MLST" }, status: 504, long: true },
  {
    what: "does not end a reply",
    fault: { kind: "unterminated-reply", to: "MLST" },
    status: 502,
  },
  {
    what: "refuses the data connection",
    fault: { kind: "reply", to: "EPSV", reply: "500 no ports" },
    status: 502,
  },
  { what: "names a data port that is closed", fault: { kind: "refused-data-port" }, status: 503 },
  {
    what: "refuses to read the file",
    fault: { kind: "reply", to: "RETR", reply: "550 not readable" },
    status: 403,
  },
  { what: "never sends a byte", fault: { kind: "silent-data" }, status: "cut", long: true },
  {
    what: "ends the data too early and reports success",
    fault: { kind: "cut-data", after: 3, then: "226" },
    status: "cut",
  },
  {
    what: "ends the data too early and reports failure",
    fault: { kind: "cut-data", after: 3, then: "ENOSPC" },
    status: "cut",
  },
  { what: "closes in the middle", fault: { kind: "cut-data", after: 3, then: "close" }, status: "cut" },
  { what: "never confirms the end", fault: { kind: "no-226" }, status: 200, long: true },
  {
    what: "injects lines into a listing",
    fault: {
      kind: "injected-listing",
      lines: ["size=1;modify=20260105200000;type=file;perm=rw; ../../etc/passwd"],
    },
    status: 502,
    path: "",
  },
];

const sharing = await SharingSystem.open();
Deno.test.afterAll(() => sharing[Symbol.asyncDispose]());
const { system } = sharing;
const folder = await sharing.share("d");

for (const { what, fault, status, path, long = false } of FAULTS) {
  Deno.test({
    name: `a daemon that ${what} while it serves a share fails only that request`,
    ignore: long && !LONG,
    async fn() {
      const name = `d/${fault.kind}-${what.replaceAll(" ", "-")}.txt`; // the service keeps no session for it yet
      await Deno.copyFile(`${sharing.data}/d/ten.txt`, `${sharing.data}/${name}`);
      const file = await sharing.share(name);
      system.daemon().sessionFaults.always = fault;
      const began = performance.now();
      const before = system.log.length;
      const reply = await sharing.fetch(path === undefined ? file : `${folder}/${path}`).catch(() =>
        "cut" as const
      );
      const took = performance.now() - began;
      const others = await Promise.all([
        system.ask("/rest/auth/HPC", { as: ALICE, body: { serverPath: "" } }),
        system.ask("/rest/share/HPC", { as: ALICE }),
      ]);
      system.daemon().sessionFaults.always = undefined;
      assert.deepEqual(others.map(({ status }) => status), [200, 200]);
      assert.equal(reply === "cut" ? reply : reply.status, status);
      assert.equal((await sharing.fetch(file)).text, "0123456789", "and the next request is served");
      const failed = reply !== "cut" && typeof status === "number" && status >= 400;
      const code = failed ? ` \`${JSON.parse(reply.text).code}\`` : "";
      const told = status === "cut" ? "download ended early" : "request answered";
      const line = status === 200 ? undefined : await system.logged(new RegExp(`${told} .*error=`), before);
      note({
        section: "Transfer daemons, while they serve shares",
        fault: `a daemon ${what}`,
        caller: status === "cut"
          ? "200, and the connection is cut before the announced length"
          : `${status}${code} ${within(took)}`,
        log: line === undefined ? "nothing" : `\`${told}\`, ${causeIn(line)}`,
        after: "sessions and lists unaffected; the next download is complete",
      });
    },
  });
}
