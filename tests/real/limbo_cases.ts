/** Chain of certificates with the expected result: a test case of x509-limbo (`limbo.json`, version 1). */
export interface LimboCase {
  readonly id: string;
  readonly features: readonly string[];
  /** Owner of the certificate: a server, verified by its client, or a client, verified by the server. */
  readonly kind: "SERVER" | "CLIENT";
  /** Trusted certificates in PEM, as all certificates and keys. */
  readonly trusted: readonly string[];
  readonly intermediates: readonly string[];
  readonly leaf: string;
  readonly key: string | undefined;
  /** Time of the verification; now if absent. */
  readonly time: string | undefined;
  readonly accepted: boolean;
  /** Name or address that the client of a server expects. */
  readonly peerName: string | undefined;
  readonly maxDepth: number | undefined;
}

/**
 * Reads `limbo.json`.
 * @throws {TypeError} With the names of the case and the invalid member.
 */
export function readLimbo(text: string): LimboCase[] {
  const { version, testcases } = membersOf(JSON.parse(text), "limbo");
  if (version !== 1 || !Array.isArray(testcases)) {
    throw new TypeError("limbo: expected version 1 with testcases");
  }
  return testcases.map((item: unknown, i) => readCase(membersOf(item, `testcases[${i}]`), `testcases[${i}]`));
}

function readCase(members: Members, place: string): LimboCase {
  const id = textOf(members, "id", place);
  const list = (name: string) => textsOf(members, name, id);
  const optional = (name: string) =>
    (members[name] ?? undefined) === undefined ? undefined : textOf(members, name, id);
  const kind = textOf(members, "validation_kind", id);
  const result = textOf(members, "expected_result", id);
  const peer = members.expected_peer_name ?? undefined;
  const maxDepth = members.max_chain_depth ?? undefined;
  if (kind !== "SERVER" && kind !== "CLIENT") throw unexpected(id, "validation_kind", "SERVER or CLIENT");
  if (result !== "SUCCESS" && result !== "FAILURE") {
    throw unexpected(id, "expected_result", "SUCCESS or FAILURE");
  }
  if (maxDepth !== undefined && typeof maxDepth !== "number") {
    throw unexpected(id, "max_chain_depth", "a number");
  }
  return {
    id,
    features: list("features"),
    kind,
    trusted: list("trusted_certs"),
    intermediates: list("untrusted_intermediates"),
    leaf: textOf(members, "peer_certificate", id),
    key: optional("peer_certificate_key"),
    time: optional("validation_time"),
    accepted: result === "SUCCESS",
    peerName: peer === undefined
      ? undefined
      : textOf(membersOf(peer, `${id}: expected_peer_name`), "value", id),
    maxDepth,
  };
}

type Members = Readonly<Record<string, unknown>>;

function membersOf(value: unknown, place: string): Members {
  if (typeof value !== "object" || value === null) throw new TypeError(`${place}: expected an object`);
  return Object.fromEntries(Object.entries(value));
}

function textOf(members: Members, name: string, place: string): string {
  const value = members[name];
  if (typeof value !== "string") throw unexpected(place, name, "a text");
  return value;
}

function textsOf(members: Members, name: string, place: string): string[] {
  const list: unknown = members[name] ?? [];
  if (!Array.isArray(list)) throw unexpected(place, name, "a list");
  return list.map((item: unknown) => {
    if (typeof item !== "string") throw unexpected(place, name, "a list of texts");
    return item;
  });
}

function unexpected(place: string, name: string, expected: string): TypeError {
  return new TypeError(`${place}: ${name}: expected ${expected}`);
}
