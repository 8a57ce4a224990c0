import assert from "node:assert/strict";
import { row } from "../../../src/store/database.ts";
import { PostgresDatabase } from "../../../src/store/postgres/postgres_database.ts";
import { connectWithTls, type PostgresTrust } from "../../../src/store/postgres/connect_with_tls.ts";
import { DATABASE_PASSWORD, POSTGRES, TestPostgres } from "../../fixtures/postgres.ts";
import { createAuthority } from "../../pki/authority.ts";

const authority = createAuthority({ subject: "CN=Database CA" });
const server = POSTGRES === undefined ? undefined : await TestPostgres.start({
  tls: {
    ...authority.issue({ subject: "CN=db", names: ["127.0.0.1", "db.example"] }),
    authority: authority.certificate,
  },
});
Deno.test.afterAll(() => server?.[Symbol.asyncDispose]());

/** Connects with this trust. @returns User, and whether there is TLS, by the database; or the error. */
async function ask(trust: PostgresTrust, host = "127.0.0.1", user?: string, password = ""): Promise<string> {
  if (server === undefined) return "";
  const options = server.options("postgres");
  const database = new PostgresDatabase({
    ...options,
    servers: options.servers.map((each) => ({ ...each, host })),
    login: { ...options.login, ...user !== undefined && { user }, password },
    connect: connectWithTls(() => Promise.resolve(trust), Date.now),
    checkSchema: () => Promise.resolve(),
  });
  try {
    const found = await database.read(() =>
      row("SELECT current_user AS user, ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()", {})
    );
    return `${found?.["user"]} ${found?.["ssl"]} ${found?.["version"]}`;
  } catch (error) {
    return error instanceof Error ? error.message : "";
  } finally {
    database.close();
  }
}

const anchors = [authority.certificate];

function test(name: string, check: () => Promise<void>): void {
  Deno.test(name, { ignore: server === undefined }, check);
}

test("connectWithTls() connects by TLS 1.3 to a server with a certificate of the authority", async () => {
  assert.equal(await ask({ anchors }), "authserver_test true TLSv1.3");
});

test("connectWithTls() refuses certificates of other authorities, forged ones, and ones for another name", async () => {
  const stranger = createAuthority({ subject: "CN=Another CA" });
  for (const other of [stranger, authority.impostor()]) {
    assert.match(await ask({ anchors: [other.certificate] }), /^the certificate of 127\.0\.0\.1: /);
  }
  assert.match(
    await ask({ anchors }, "localhost"),
    /^the certificate of localhost: .*(?:localhost|altnames)/i,
  );
  assert.match(await ask({ anchors: [] }), /^the certificate of 127\.0\.0\.1: /);
});

test("connectWithTls() logs in by certificate if the database requires one", async () => {
  const clientCertificate = authority.issue({ subject: "CN=by_certificate" });
  assert.match(
    await ask({ anchors, clientCertificate }, undefined, "by_certificate"),
    /^by_certificate true/,
  );
  const other = authority.issue({ subject: "CN=somebody" });
  assert.match(
    await ask({ anchors, clientCertificate: other }, undefined, "by_certificate"),
    /certificate auth/,
  );
  assert.match(await ask({ anchors }, undefined, "by_certificate"), /certificate/);
});

test("PostgresDatabase logs in by password, and reports a wrong one without details", async () => {
  assert.match(await ask({ anchors }, undefined, "by_password", DATABASE_PASSWORD), /^by_password true/);
  const refused = await ask({ anchors }, undefined, "by_password", "not this one");
  assert.equal(refused, 'password authentication failed for user "by_password"');
});

test("connectWithTls() makes no connection without TLS", async () => {
  await using plain = await TestPostgres.start();
  const database = new PostgresDatabase({
    ...plain.options("postgres"),
    connect: connectWithTls(() => Promise.resolve({ anchors }), Date.now),
  });
  await assert.rejects(database.read(() => row("SELECT 1", {})), /has no TLS, expected ssl=on/);
  database.close();
});

Deno.test("connectWithTls() leaves no connection open to a server that it refuses", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const refused = (async () => {
    const connection = await listener.accept();
    const asked = new Uint8Array(8);
    assert.equal(await connection.read(asked), 8);
    await connection.write(new TextEncoder().encode("N"));
    const after = await connection.read(new Uint8Array(1)).catch(() => null);
    connection.close();
    return after;
  })();
  const connect = connectWithTls(() => Promise.resolve({ anchors }), Date.now);
  const server = { host: "127.0.0.1", port: listener.addr.port };
  await assert.rejects(connect(server, new AbortController().signal), /has no TLS/);
  assert.equal(await refused, null);
  listener.close();
});
