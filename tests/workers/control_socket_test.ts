import assert from "node:assert/strict";
import { dirname } from "node:path";
import { assertAlike } from "../fixtures/assert_alike.ts";
import fc from "fast-check";
import { createLogger, SILENT } from "../../src/logging/logger.ts";
import { CannotStart } from "../../src/workers/worker_lifecycle.ts";
import { CommandFailed } from "../../src/command/command.ts";
import { askService, askServiceOf, NotRunning } from "../../src/command/running/ask_running.ts";
import {
  type AdminRequest,
  AdminRequestFailed,
  formatAdminRequest,
  InvalidAdminRequest,
  MAX_BAN_SECONDS,
  MAX_REQUEST,
  parseAdminRequest,
} from "../../src/resource/admin/admin_request.ts";
import {
  AnotherService,
  ControlSocket,
  controlSockets,
  InvalidLine,
  ownControlSocket,
  readLine,
} from "../../src/workers/control_socket.ts";

/** Calls `act` with a socket in a new folder, and its requests and log lines. */
async function withSocket(
  act: (path: string, asked: AdminRequest[], log: string[]) => Promise<void>,
  { answer = (): unknown => "done", requestMs = 5000 } = {},
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/control.sock`;
  const asked: AdminRequest[] = [];
  const log: string[] = [];
  const socket = await ControlSocket.listen(path, {
    answer: (request) => {
      asked.push(request);
      return Promise.resolve().then(answer);
    },
    log: createLogger((line) => log.push(line)),
    requestMs,
  });
  try {
    await act(path, asked, log);
  } finally {
    await socket.close();
    await Deno.remove(folder, { recursive: true });
  }
}

/** Sends bytes and returns the whole answer, which is empty if the service only closes the connection. */
async function send(path: string, bytes: Uint8Array): Promise<string> {
  using connection = await Deno.connect({ transport: "unix", path });
  try {
    for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
    return await new Response(connection.readable).text();
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe || error instanceof Deno.errors.ConnectionReset) return "";
    throw error;
  }
}

const utf8 = (text: string) => new TextEncoder().encode(text);

Deno.test("ControlSocket passes on a request and returns its result", async () => {
  await withSocket(async (path, asked) => {
    const request = {
      command: "ban add",
      subject: { user: "ann", address: "192.0.2.1" },
      seconds: 60,
    } as const;
    assert.equal(await askService([path], request, 5000), "done");
    assertAlike(asked, [request]);
  });
});

Deno.test("askService() tries one path after the other", async () => {
  await withSocket(async (path) => {
    assert.equal(await askService([`${path}.not`, path], { command: "status" }, 5000), "done");
    await assert.rejects(
      askService([`${path}.not`, `${path}/not`], { command: "status" }, 5000),
      (error: Error) => error instanceof NotRunning && error.message.includes(`${path}.not or ${path}/not`),
    );
  });
});

Deno.test("askServiceOf() asks the system's service only if it has this configuration", async () => {
  let configuration: unknown = "/etc/authserver/container.properties";
  await withSocket(async (path, asked) => {
    const folder = dirname(path);
    const [file, link] = [`${folder}/container.properties`, `${folder}/link.properties`];
    await Deno.writeTextFile(file, "");
    await Deno.symlink(file, link);
    const reload = (file: string, system = path) =>
      askServiceOf(file, ["/own", system], { command: "reload" }, 5000, system);
    const isAsked = async (answer: Promise<unknown>) => {
      asked.length = 0;
      await answer;
      return asked.at(-1)?.command === "reload";
    };
    const isRefused = (answer: Promise<unknown>, paths: readonly string[]) =>
      assert.rejects(answer, (error) => error instanceof NotRunning && error.paths.join() === paths.join());
    await isRefused(reload(file), ["/own"]);
    await isRefused(reload(file, "/nowhere"), ["/own", "/nowhere"]);
    assert(await isAsked(reload("/etc/authserver/container.properties")));
    configuration = link;
    assert(await isAsked(reload(file)));
    // A service that does not report its configuration gets no request.
    configuration = undefined;
    asked.length = 0;
    await isRefused(reload(file), ["/own"]);
    assertAlike(asked, [{ command: "status" }]);
  }, { answer: () => ({ configuration }) });
});

Deno.test("askServiceOf() asks the service of the folder, even while the system's does not answer", async () => {
  await withSocket(async (path) => {
    const system = `${path}.system`;
    using _mute = Deno.listen({ transport: "unix", path: system });
    const ask = (own: string) =>
      askServiceOf("/a/b.properties", [own, system], { command: "status" }, 500, system);
    assert.equal(await ask(path), "done");
    await assert.rejects(ask(`${path}.not`), { message: /^The service gave no answer: no answer within/ });
  });
});

Deno.test("askServiceOf() treats an inaccessible system service as another one, and reports it", async () => {
  const { connect } = Deno;
  const closed = (options: { path: string }) =>
    options.path === "/closed"
      ? Promise.reject(new Deno.errors.PermissionDenied())
      : connect({ transport: "unix", ...options });
  Object.assign(Deno, { connect: closed }); // root may access every service
  try {
    const ask = (...paths: string[]) => askServiceOf("/a/b", paths, { command: "status" }, 500, "/closed");
    await assert.rejects(
      ask("/own", "/closed"),
      (error) =>
        error instanceof NotRunning &&
        /^no service listens at \/own; \/closed: permission denied/.test(error.message),
    );
    await assert.rejects(
      askServiceOf("/a/b", ["/closed"], { command: "status" }, 500, "/system"),
      (error) => error instanceof CommandFailed && !(error instanceof NotRunning),
    );
  } finally {
    Object.assign(Deno, { connect });
  }
});

Deno.test("askService() passes on only the reason of a refusal", async () => {
  await withSocket(async (path, _asked, log) => {
    await assert.rejects(askService([path], { command: "status" }, 5000), {
      constructor: CommandFailed,
      message: "the core is busy",
    });
    assertAlike(log, []);
  }, {
    answer: () => {
      throw new AdminRequestFailed("the core is busy");
    },
  });
  await withSocket(async (path, _asked, log) => {
    await assert.rejects(askService([path], { command: "status" }, 5000), {
      message: "The service failed to do it, its log says why",
    });
    assert.match(log.join(), /secret detail/);
  }, {
    answer: () => {
      throw new TypeError("secret detail");
    },
  });
});

const ANSWERS: readonly [what: string, answer: string, message: RegExp][] = [
  ["not JSON", "hello\n", /not JSON/],
  ["JSON of another form", "{}\n", /does not understand/],
  ["a text", '"ok"\n', /does not understand/],
  ["nothing", "", /cut off/],
  ["half a line", '{"ok":true', /cut off/],
];

for (const [what, answer, message] of ANSWERS) {
  Deno.test(`askService() does not accept ${what} as an answer`, async () => {
    const folder = await Deno.makeTempDir();
    const path = `${folder}/s`;
    const listener = Deno.listen({ transport: "unix", path });
    const serve = (async () => {
      using connection = await listener.accept();
      await connection.read(new Uint8Array(1000));
      await connection.write(utf8(answer));
    })();
    await assert.rejects(
      askService([path], { command: "status" }, 5000),
      (error: Error) => error instanceof CommandFailed && message.test(error.message),
    );
    await serve;
    listener.close();
    await Deno.remove(folder, { recursive: true });
  });
}

Deno.test("askService() waits no longer than its time limit", async () => {
  await withSocket(async (path) => {
    await assert.rejects(askService([path], { command: "status" }, 20), /no answer within 0\.02 s/);
  }, { answer: () => new Promise((resolve) => setTimeout(resolve, 100)) });
});

const BAD_LINES: readonly [what: string, line: string, error: RegExp][] = [
  ["an empty line", "", /line of JSON/],
  ["text that is not JSON", "status", /line of JSON/],
  ["an array", "[]", /JSON object/],
  ["null", "null", /JSON object/],
  ["a number", "1", /JSON object/],
  ["no command", "{}", /does not know this command/],
  ["an unknown command", '{"command":"shutdown"}', /does not know this command/],
  ["a command that is not text", '{"command":["status"]}', /does not know this command/],
  ["a property of every object", '{"command":"__proto__"}', /does not know this command/],
  ["a ban without a subject", '{"command":"ban add","seconds":1}', /a user, an address, or both/],
  ["a ban without a duration", '{"command":"ban add","user":"a"}', /whole number of seconds/],
  ["a ban of 0 seconds", '{"command":"ban add","user":"a","seconds":0}', /whole number of seconds/],
  ["a ban of half a second", '{"command":"ban add","user":"a","seconds":0.5}', /whole number of seconds/],
  [
    "a ban that is too long",
    `{"command":"ban add","user":"a","seconds":${MAX_BAN_SECONDS + 1}}`,
    /whole number of seconds/,
  ],
  ["a ban of an empty name", '{"command":"ban add","user":"","seconds":1}', /1 to 256 characters/],
  ["a ban of a long name", `{"command":"ban add","user":"${"a".repeat(257)}","seconds":1}`, /1 to 256/],
  ["a ban of a number", '{"command":"ban add","user":7,"seconds":1}', /1 to 256 characters/],
  ["a ban of a host name", '{"command":"ban add","address":"host","seconds":1}', /IP address/],
  ["a ban of a range", '{"command":"ban add","address":"10.0.0.0/8","seconds":1}', /IP address/],
  ["a removal without a subject", '{"command":"ban remove"}', /a user, an address, or both/],
  [
    "a ban by an empty operator",
    '{"command":"ban add","user":"a","seconds":1,"operator":""}',
    /operator's name of 1 to 256/,
  ],
  ["a removal by number", '{"command":"ban remove","user":"a","operator":0}', /operator's name of 1 to 256/],
  ["a user without a name", '{"command":"user show"}', /account name/],
  ["a user with a long name", `{"command":"user show","uid":"${"a".repeat(257)}"}`, /account name/],
];

for (const [what, line, error] of BAD_LINES) {
  Deno.test(`ControlSocket refuses ${what}`, async () => {
    await withSocket(async (path, asked) => {
      const reply = JSON.parse(await send(path, utf8(`${line}\n`)));
      assert.equal(reply.ok, false);
      assert.match(reply.error, error);
      assertAlike(asked, []);
    });
  });
}

Deno.test("ControlSocket refuses lines that are too long or not UTF-8", async () => {
  await withSocket(async (path, asked) => {
    const long = utf8(`"${"a".repeat(MAX_REQUEST)}"\n`);
    assert.match(await send(path, long), /longer than 16384 bytes|^$/);
    assert.match(await send(path, new Uint8Array([0x22, 0xff, 0x22, 0x0a])), /not UTF-8/);
    assertAlike(asked, []);
  });
});

Deno.test("ControlSocket closes a connection that sends nothing", async () => {
  await withSocket(async (path, asked) => {
    assert.equal(await send(path, new Uint8Array()), "");
    assertAlike(asked, []);
  }, { requestMs: 20 });
});

Deno.test("ControlSocket does not limit the time of an answer by the time limit for a request", async () => {
  const answer = () => new Promise((resolve) => setTimeout(() => resolve("done at last"), 60));
  await withSocket(async (path) => {
    assert.equal(await askService([path], { command: "status" }, 20_000), "done at last");
  }, { answer, requestMs: 20 });
});

Deno.test({
  name: "ControlSocket does not wait for a caller that has left",
  sanitizeOps: true,
  fn: () =>
    withSocket(async (path) => {
      (await Deno.connect({ transport: "unix", path })).close();
      assert.equal(await askService([path], { command: "status" }, 20_000), "done");
    }, { requestMs: 3600_000 }),
});

Deno.test("ControlSocket serves at most 16 callers at a time, and the next when one has left", async () => {
  await withSocket(async (path) => {
    const waiting = await Promise.all(
      Array.from({ length: 16 }, () => Deno.connect({ transport: "unix", path })),
    );
    await assert.rejects(askService([path], { command: "status" }, 5000), CommandFailed);
    waiting[0]?.close();
    for (;;) {
      const answer = await askService([path], { command: "status" }, 5000).catch(() => undefined);
      if (answer === "done") break;
    }
    waiting.slice(1).forEach((connection) => connection.close());
  });
});

Deno.test("ControlSocket.close() logs that it cannot remove the socket, and does not fail", async () => {
  let said: readonly string[] = [];
  await withSocket(async (path, _asked, log) => {
    said = log;
    await Deno.remove(path);
    await Deno.mkdir(`${path}/full`, { recursive: true }); // not even root can remove it
  });
  assert.match(said.join(), /warn {2}control socket not removed path=\S+ error=.*not empty/);
});

Deno.test("ControlSocket replaces only the socket of a dead service", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/control.sock`;
  const parts = { answer: () => Promise.resolve("new"), log: SILENT };

  // A killed process leaves its socket behind.
  const code = `Deno.listen({ transport: "unix", path: ${
    JSON.stringify(path)
  } }); Deno.kill(Deno.pid, "SIGKILL")`;
  await new Deno.Command(Deno.execPath(), { args: ["eval", code], stderr: "null" }).output();
  assert.ok((await Deno.stat(path)).isSocket);
  const socket = await ControlSocket.listen(path, parts);
  assert.equal(await askService([path], { command: "status" }, 5000), "new");
  await assert.rejects(
    ControlSocket.listen(path, parts),
    (error: Error) => error instanceof AnotherService && /another service answers there/.test(error.message),
  );
  assert.equal(
    await askService([path], { command: "status" }, 5000),
    "new",
    "the first one is not disturbed",
  );
  await socket.close();
  await assert.rejects(Deno.stat(path), Deno.errors.NotFound);

  await Deno.writeTextFile(path, "precious");
  await assert.rejects(ControlSocket.listen(path, parts), /something that is no socket/);
  assert.equal(await Deno.readTextFile(path), "precious");

  await Deno.remove(path);
  const datagrams = Deno.listenDatagram({ transport: "unixpacket", path });
  await assert.rejects(ControlSocket.listen(path, parts), /wrong type/);
  assert.ok((await Deno.stat(path)).isSocket);
  datagrams.close();

  await assert.rejects(
    ControlSocket.listen(`${folder}/${"x".repeat(120)}`, parts),
    (error: Error) => error instanceof CannotStart && /at most 92 bytes/.test(error.message),
  );
  await assert.rejects(ControlSocket.listen(`${path}/below/a/file`, parts), CannotStart);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("parseAdminRequest() reads what formatAdminRequest() writes, and accepts any text in it", () => {
  const subject = fc.oneof(
    fc.record({ user: fc.string({ minLength: 1, maxLength: 50 }) }),
    fc.record({ address: fc.constantFrom("192.0.2.7", "2001:db8::1") }),
    fc.record({ user: fc.string({ minLength: 1, maxLength: 50 }), address: fc.constant("10.0.0.1") }),
  );
  const request: fc.Arbitrary<AdminRequest> = fc.oneof(
    fc.constant({ command: "status" } as const),
    fc.constant({ command: "ban list" } as const),
    fc.record({
      command: fc.constant("ban add" as const),
      subject,
      seconds: fc.integer({ min: 1, max: MAX_BAN_SECONDS }),
    }),
    fc.record({ command: fc.constant("ban remove" as const), subject }),
    fc.record({
      command: fc.constant("ban remove" as const),
      subject,
      operator: fc.string({ minLength: 1, maxLength: 50 }),
    }),
    fc.record({
      command: fc.constant("user show" as const),
      uid: fc.string({ minLength: 1, maxLength: 50 }),
    }),
  );
  fc.assert(fc.property(request, (given) => {
    const line = formatAdminRequest(given);
    assert.ok(!line.includes("\n"));
    assertAlike(parseAdminRequest(line), structuredClone(given));
  }));
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (line) => {
    try {
      parseAdminRequest(line);
    } catch (error) {
      assert.ok(error instanceof InvalidAdminRequest);
    }
  }));
});

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
  ["absent without log and runtime directory", {}, undefined, [SYSTEM]],
  ["not in a runtime directory with a relative path", { runtime: "relative" }, undefined, [SYSTEM]],
  ["at the configured path", { socket: "/s", log: "/srv/logs/a.log", runtime: "/run/x" }, "/s", ["/s"]],
  ["absent if disabled", { enabled: false, log: "/srv/logs/a.log", runtime: "/run/x" }, undefined, []],
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

/** Returns a connection on which these parts arrive one by one, and then its end. */
function arriving(...parts: readonly string[]): Pick<Deno.Conn, "read"> {
  const left = parts.map((part) => new TextEncoder().encode(part));
  return {
    read: (buffer) => {
      const part = left.shift();
      if (part !== undefined) buffer.set(part);
      return Promise.resolve(part?.length ?? null);
    },
  };
}

for (const parts of [["status\n"], ["sta", "tus\n"], ["status", "\n"], ["s", "tatus\nrest"]]) {
  Deno.test(`readLine() reads one line from the parts ${JSON.stringify(parts)}`, async () => {
    assert.equal(await readLine(arriving(...parts), 6), "status");
  });
}

Deno.test("readLine() refuses a line that is too long, incomplete or not UTF-8", async () => {
  await assert.rejects(readLine(arriving("statuses\n"), 7), InvalidLine);
  await assert.rejects(readLine(arriving("stat"), 7), /cut off/);
  await assert.rejects(
    readLine({
      read: (buffer) => {
        buffer.set([0xff, 0x0a]);
        return Promise.resolve(2);
      },
    }, 7),
    /not UTF-8/,
  );
});
