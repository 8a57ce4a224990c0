import assert from "node:assert/strict";
import { once } from "node:events";
import { PostgresConnection } from "../../../src/store/postgres/postgres_connection.ts";
import { PostgresError } from "../../../src/store/postgres/postgres_failure.ts";
import { connectPlain } from "../../../src/store/postgres/connect_plain.ts";
import { inTime } from "../../fixtures/deadline.ts";
import { POSTGRES, TestPostgres } from "../../fixtures/postgres.ts";

const server = POSTGRES === undefined ? undefined : await TestPostgres.start();
Deno.test.afterAll(() => server?.[Symbol.asyncDispose]());

function test(name: string, check: (server: TestPostgres) => Promise<void>): void {
  Deno.test(`PostgresConnection ${name}`, { ignore: server === undefined }, async () => {
    if (server !== undefined) await check(server);
  });
}

const socketTo = ({ port }: TestPostgres) =>
  connectPlain({ host: "127.0.0.1", port }, AbortSignal.timeout(20_000));

test("leaves no socket open if the server refuses the login", async (server) => {
  const socket = await socketTo(server);
  await assert.rejects(
    PostgresConnection.open(socket, { ...server.options("none").login, database: "none" }),
    (error) => error instanceof PostgresError && /"none" does not exist/.test(error.message),
  );
  assert.ok(socket.destroyed);
});

test("fails pending statements when it ends, and all later ones", async (server) => {
  const connection = await PostgresConnection.open(
    await socketTo(server),
    server.options(await server.database()).login,
  );
  assert.deepEqual(await connection.query("SELECT $1::int AS one", [1]), [{ one: 1 }]);
  assert.ok(connection.isAlive);
  const underWay = connection.run("SELECT pg_sleep(3600)");
  connection.destroy();
  assert.equal(connection.isAlive, false);
  await assert.rejects(underWay, PostgresError);
  await assert.rejects(connection.run("SELECT 1"), PostgresError);
});

test("opens no second socket when the first is lost", async (server) => {
  const socket = await socketTo(server);
  const connection = await PostgresConnection.open(socket, server.options(await server.database()).login);
  socket.destroy();
  await assert.rejects(connection.run("SELECT 1"), PostgresError);
  await assert.rejects(connection.run("SELECT 1"), PostgresError);
  assert.equal(connection.isAlive, false);
});

test("fails at once on a socket that was closed before", async (server) => {
  const socket = await socketTo(server);
  socket.destroy();
  await once(socket, "close");
  const opening = PostgresConnection.open(socket, server.options("none").login);
  await assert.rejects(inTime(opening, "the failure"), PostgresError);
});
