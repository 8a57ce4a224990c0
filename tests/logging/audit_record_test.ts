import assert from "node:assert/strict";
import fc from "fast-check";
import { AUDIT_MEMBERS, type AuditRecord, formatAuditLine } from "../../src/logging/audit_record.ts";
import { CHARACTER, PRINTABLE } from "../fixtures/character.ts";

const AT = Date.UTC(2026, 0, 5, 9, 15, 0, 123);

Deno.test("formatAuditLine() writes the members in a fixed order, and omits absent ones", () => {
  const record: AuditRecord = {
    reason: "ERR_FORBIDDEN",
    server: "HPC",
    dn: "CN=Ann",
    decision: "refused",
    event: "session",
    uid: undefined,
  };
  assert.equal(
    formatAuditLine(AT, record),
    '{"time":"2026-01-05T09:15:00.123Z","event":"session","decision":"refused","dn":"CN=Ann","server":"HPC",' +
      '"reason":"ERR_FORBIDDEN"}',
  );
});

Deno.test("formatAuditLine() omits members that the format does not have", () => {
  const record = { event: "token", decision: "granted", password: "x" } as const;
  assert.doesNotMatch(formatAuditLine(AT, record), /password/);
});

Deno.test("formatAuditLine() writes any record as one line of printable characters, without loss", () => {
  fc.assert(fc.property(fc.string({ unit: CHARACTER }), fc.string({ unit: PRINTABLE }), (dn, path) => {
    const line = formatAuditLine(AT, { event: "share", decision: "granted", dn, path });
    assert.doesNotMatch(line, /[\p{C}\p{Zl}\p{Zp}]/u);
    const { dn: readDn, path: readPath } = JSON.parse(line);
    assert.deepEqual([readDn, readPath], [dn, path]);
  }));
});

Deno.test("AUDIT_MEMBERS contains each member once", () => {
  assert.equal(new Set(AUDIT_MEMBERS).size, AUDIT_MEMBERS.length);
});
