import assert from "node:assert/strict";
import type { UserAttributes } from "../../src/attributes/user_attributes.ts";
import { createLogger } from "../../src/logging/logger.ts";
import { serverDetail, serverList } from "../../src/resource/server_list.ts";
import { ServiceSection } from "../../src/resource/service_section.ts";
import { call, FACTS, server, serversOf, USER } from "./sample_call.ts";

Deno.test("serverList() is indented by two blanks, and shows which servers have sharing", () => {
  const servers = serversOf(server("AA", { up: true, sharing: true }), server("B", { up: false }));
  const content = String(serverList(call(), servers, new ServiceSection(FACTS)).body);
  const { AA: A, B } = JSON.parse(content);
  assert.deepEqual(A.dataSharing, { enabled: true, href: "https://h/rest/share/AA" });
  assert.deepEqual(B.dataSharing, { enabled: false });
  assert.deepEqual([A.status.slice(0, 3), B.status.slice(0, 5)], ["OK ", "DOWN "]);
  // Users read the JSON with curl: its parts, which are made separately, must be indented alike.
  assert.equal(content, JSON.stringify(JSON.parse(content), undefined, 2));
});

Deno.test("serverDetail() finds a server and its instances by number, and no others", () => {
  const servers = serversOf(server("AA", { up: true }));
  const detail = (name: string) => String(serverDetail(call(name, servers)).body);
  for (const name of ["AA", "AA-1", "AA-2"]) {
    const content = detail(name);
    assert.equal(JSON.parse(content).href, "https://h/rest/auth/AA");
    assert.equal(content, JSON.stringify(JSON.parse(content), undefined, 2));
  }
  for (const name of ["AA-0", "AA-3", "BB", "BB-1", ""]) {
    assert.throws(() => detail(name), { code: "ERR_UNKNOWN_SERVER" }, name);
  }
});

Deno.test("serverDetail() shows a user's attributes, and none if they are unusable", () => {
  const lines: string[] = [];
  const of = (user: Partial<UserAttributes>) => {
    lines.length = 0;
    const log = createLogger((line) => lines.push(line.replace(/^\S+ /, "")));
    const asked = { ...call("AA", serversOf(server("AA", { up: true }))), log };
    const caller = { kind: "authenticated", identity: { dn: "CN=Ann", method: "", via: "" } } as const;
    return JSON.parse(
      String(serverDetail({ ...asked, caller, user: { ...USER, role: "user", ...user } }).body),
    );
  };
  const limits = new Map([["uftpd.AA.rateLimit", ["1k"]], ["uftpd.AA.includes", ["/data/*"]]]);
  const entry = of({ uid: "ann", group: "hpc", availableGroups: ["hpc"], extra: limits });
  assert.deepEqual([entry.uid, entry.gid, entry.rateLimit, entry.allowed], ["ann", "hpc", 1024, "/data/*"]);
  assert.deepEqual(lines, []);
  const nobody = of({});
  assert.deepEqual([nobody.uid, nobody.reservations], [undefined, []]);
  assert.deepEqual(lines, [], "who has no account is no trouble");
  const broken = of({ uid: "ann", extra: new Map([["uftpd.AA.rateLimit", ["fast"]]]) });
  assert.deepEqual([broken.uid, broken.rateLimit, broken.reservations], [undefined, undefined, []]);
  assert.match(lines.join(), /^warn +attributes of a user not usable server=AA error=.*rateLimit/);
});
