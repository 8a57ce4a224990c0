import assert from "node:assert/strict";
import { controlSockets, ownControlSocket } from "../../../src/workers/control/control_sockets.ts";

const SYSTEM = "/run/authserver/control.sock";

const CASES: readonly [
  what: string,
  place: { socket?: string; enabled?: boolean; log?: string; runtime?: string },
  own: string | undefined,
  looked: readonly string[],
][] = [
  ["beside the log", { log: "/srv/logs/a.log" }, "/srv/logs/control.sock", [
    "/srv/logs/control.sock",
    SYSTEM,
  ]],
  [
    "in the runtime directory",
    { log: "/srv/logs/a.log", runtime: "/run/x" },
    "/run/x/control.sock",
    ["/run/x/control.sock", "/srv/logs/control.sock", SYSTEM],
  ],
  ["in the first runtime directory", { runtime: "/run/a:/run/b" }, "/run/a/control.sock", [
    "/run/a/control.sock",
    SYSTEM,
  ]],
  ["nowhere without log and runtime directory", {}, undefined, [SYSTEM]],
  ["not in a runtime directory that is no path", { runtime: "relative" }, undefined, [SYSTEM]],
  ["where the operator wants it", { socket: "/s", log: "/srv/logs/a.log", runtime: "/run/x" }, "/s", ["/s"]],
  ["nowhere if switched off", { enabled: false, log: "/srv/logs/a.log", runtime: "/run/x" }, undefined, []],
];

for (const [what, { socket, enabled = true, log, runtime }, own, looked] of CASES) {
  Deno.test(`the control socket is ${what}`, () => {
    const place = {
      control: { enabled, socket },
      logging: { level: "info", format: "text", file: log, maxSize: 0, maxFiles: 1 },
      environment: (name: string) => name === "RUNTIME_DIRECTORY" ? runtime : undefined,
    } as const;
    assert.equal(ownControlSocket(place), own);
    assert.deepEqual(controlSockets(place), looked);
  });
}
