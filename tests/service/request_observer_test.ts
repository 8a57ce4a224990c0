import assert from "node:assert/strict";
import { seriesText } from "../../src/metrics/counters.ts";
import type { AuditRecord } from "../../src/logging/audit_record.ts";
import { httpError } from "../../src/model/http_error.ts";
import type { Trace } from "../../src/service/identify.ts";
import { type Answered, RequestObserver } from "../../src/service/request_observer.ts";
import type { Route } from "../../src/service/http/router.ts";
import { emptyResponse } from "../../src/resource/text_response.ts";

const SESSION: Route = {
  method: "POST",
  path: "/rest/auth/:server",
  service: "auth",
  audit: "session",
  answer: () => emptyResponse(),
};

const LIST: Route = {
  method: "GET",
  path: "/rest/auth",
  service: "auth",
  answer: () => emptyResponse(),
};

function create() {
  const records: AuditRecord[] = [];
  const observer = new RequestObserver(["HPC"], (record) => records.push(record));
  return {
    records,
    observer,
    answered: (facts: Partial<Trace & Answered>) =>
      observer.answered(
        { route: LIST, client: "192.0.2.1", dn: "CN=Ann", via: "PASSWORD", facts: {}, ...facts },
        { request: "r1", method: "GET", status: 200, ms: 3, failure: undefined, ...facts },
      ),
    /** Returns the counts other than durations, as text. */
    counts: () =>
      observer.take().filter(({ part }) => part === undefined)
        .map((one) => `${seriesText(one).replace("authserver_", "")} ${one.value}`),
  };
}

Deno.test("RequestObserver counts requests by route, method and status", () => {
  const { answered, counts } = create();
  answered({});
  answered({});
  answered({ status: 401 });
  answered({ method: "HEAD" });
  assert.deepEqual(counts(), [
    'requests_total{route="/rest/auth",method="GET",code="200"} 2',
    'requests_total{route="/rest/auth",method="GET",code="401"} 1',
    'requests_total{route="/rest/auth",method="HEAD",code="200"} 1',
  ]);
  assert.deepEqual(counts(), [], "what was taken is not counted again");
});

Deno.test("RequestObserver creates a bounded number of series for any requests", () => {
  const { answered, counts } = create();
  for (const method of ["BREW", "PROPFIND", "X"]) answered({ route: undefined, method, status: 404 });
  for (const server of ["a", "b", 'x"}']) {
    answered({
      route: SESSION,
      method: "POST",
      status: 404,
      facts: { server },
      failure: httpError("ERR_FORBIDDEN"),
    });
  }
  assert.deepEqual(counts().toSorted(), [
    'requests_total{route="/rest/auth/:server",method="POST",code="404"} 3',
    'requests_total{route="none",method="other",code="404"} 3',
    'sessions_total{server="unknown",decision="refused"} 3',
  ]);
});

Deno.test("RequestObserver counts durations", () => {
  const { answered, observer } = create();
  answered({ ms: 4 });
  answered({ ms: 400 });
  const counts = new Map(observer.take().map((one) => [seriesText(one), one.value]));
  const labels = 'route="/rest/auth",method="GET"';
  const name = "authserver_request_duration_seconds";
  assert.equal(counts.get(`${name}_bucket{${labels},le="0.005"}`), 1);
  assert.equal(counts.get(`${name}_bucket{${labels},le="+Inf"}`), 2);
  assert.equal(counts.get(`${name}_sum{${labels}}`), 0.404);
});

Deno.test("RequestObserver passes only decisions to the audit stream", () => {
  const { answered, records } = create();
  answered({});
  assert.deepEqual(records, []);
  const facts = { server: "HPC", uid: "ann", daemon: "hpc:64434", instance: 1 };
  answered({ route: SESSION, method: "POST", facts });
  answered({
    route: SESSION,
    method: "POST",
    status: 403,
    facts: { server: "HPC" },
    failure: httpError("ERR_FORBIDDEN"),
  });
  const common = {
    event: "session",
    request: "r1",
    action: "POST /rest/auth/:server",
    client: "192.0.2.1",
    dn: "CN=Ann",
    method: "PASSWORD",
  };
  assert.deepEqual(records, [
    { ...common, ...facts, decision: "granted", reason: undefined },
    { ...common, server: "HPC", decision: "refused", reason: "ERR_FORBIDDEN" },
  ]);
});

Deno.test("RequestObserver keeps its own fields when a request supplies fields of the same names", () => {
  const { answered, records } = create();
  const facts = JSON.parse('{"event":"start","decision":"granted","client":"10.0.0.1","dn":"CN=Root"}');
  answered({
    route: SESSION,
    method: "POST",
    status: 401,
    facts,
    failure: httpError("ERR_FORBIDDEN"),
  });
  const [record] = records;
  assert.deepEqual(
    [record?.event, record?.decision, record?.client, record?.dn],
    ["session", "refused", "192.0.2.1", "CN=Ann"],
  );
});

Deno.test("RequestObserver counts results of authentication by method", () => {
  const { observer, counts } = create();
  observer.onResult("PASSWORD", { kind: "refused", reason: "wrong" });
  observer.onResult("PASSWORD", { kind: "refused", reason: "wrong" });
  observer.onResult("OAUTH", { kind: "failed", error: new Error("down") });
  assert.deepEqual(counts(), [
    'authentications_total{authenticator="PASSWORD",result="refused"} 2',
    'authentications_total{authenticator="OAUTH",result="unavailable"} 1',
  ]);
  assert.deepEqual(counts(), []);
});

Deno.test("RequestObserver counts revoked tokens, and uploaded or removed SSH certificates", () => {
  const { answered, counts, records } = create();
  const revoking: Route = { ...SESSION, method: "DELETE", path: "/rest/auth/tokens", audit: "revoke" };
  const certificate: Route = { ...SESSION, path: "/rest/auth/ssh-certificate", audit: "certificate" };
  answered({ route: revoking, method: "DELETE" });
  answered({ route: certificate, method: "PUT" });
  answered({
    route: certificate,
    method: "PUT",
    status: 403,
    failure: httpError("ERR_CERTIFICATE_REFUSED", { why: "expired" }),
  });
  answered({ route: certificate, method: "DELETE", status: 204 });
  assert.deepEqual(counts().filter((line) => !line.startsWith("requests_total")).sort(), [
    'ssh_certificates_total{action="removed",decision="granted"} 1',
    'ssh_certificates_total{action="uploaded",decision="granted"} 1',
    'ssh_certificates_total{action="uploaded",decision="refused"} 1',
    'token_revocations_total{decision="granted"} 1',
  ]);
  assert.deepEqual(records.map(({ event }) => event), [
    "revoke",
    "certificate",
    "certificate",
    "certificate",
  ]);
});
