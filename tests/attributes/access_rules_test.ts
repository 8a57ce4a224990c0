import assert from "node:assert/strict";
import { type AccessService, mayAccess } from "../../src/attributes/access_rules.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"];

/** Methods each role may use; the table of credentials.md 8.2 and rest-api.md 1.7, written out. */
const TABLE: Readonly<Record<AccessService, Readonly<Record<string, readonly string[]>>>> = {
  auth: {
    banned: [],
    anonymous: ["GET", "HEAD"],
    user: METHODS,
    admin: METHODS,
    server: ["GET", "HEAD"],
    User: ["GET", "HEAD"],
  },
  share: { banned: [], anonymous: [], user: METHODS, admin: METHODS, server: [], User: [] },
  access: {
    banned: [],
    anonymous: ["GET", "HEAD", "POST", "PUT"],
    user: METHODS,
    admin: METHODS,
    server: ["GET", "HEAD", "POST", "PUT"],
    User: ["GET", "HEAD", "POST", "PUT"],
  },
  admin: { banned: [], anonymous: [], user: [], admin: METHODS, server: [], User: [], Admin: [] },
};

for (const [service, roles] of Object.entries(TABLE)) {
  Deno.test(`mayAccess() to ${service} follows the table`, () => {
    for (const [role, allowed] of Object.entries(roles)) {
      for (const method of METHODS) {
        const known = service === "auth" || service === "share" || service === "access" ||
          service === "admin";
        assert.ok(known);
        assert.equal(mayAccess(service, method, role), allowed.includes(method), `${role} ${method}`);
      }
    }
  });
}
