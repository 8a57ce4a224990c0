import assert from "node:assert/strict";
import {
  AttributeChain,
  AutomaticSource,
  type ChainLink,
  withAutomaticSource,
} from "../../src/attributes/attribute_chain.ts";
import { attributesOnServer } from "../../src/attributes/server_attributes.ts";
import { selectAttributes, userAttributes } from "../../src/attributes/user_attributes.ts";
import type { AttributeSource } from "../../src/attributes/attribute_source.ts";
import { COMBINING_POLICIES, type CombiningPolicy } from "../../src/config/keys/attribute_keys.ts";
import { createLogger, SILENT } from "../../src/logging/logger.ts";
import { type AttributeSet, NO_ATTRIBUTES } from "../../src/model/attributes.ts";
import { httpError } from "../../src/model/http_error.ts";
import { attributeSet, identity, testAttributeSource } from "./conformance.ts";

const signal = new AbortController().signal;
const ANN = identity("CN=Ann", { uid: "ann", method: "SSHKEY" });

/** Returns a source that gives everybody the same attributes, or fails. */
function fixed(
  name: string,
  answer: AttributeSet | Error,
): AttributeSource & { asked: number; closed: number } {
  return {
    name,
    asked: 0,
    closed: 0,
    attributesOf() {
      this.asked++;
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
    close() {
      this.closed++;
    },
  };
}

const down = (name: string) =>
  fixed(name, httpError("ERR_ATTRIBUTE_SOURCE", `Attribute source ${name}: the XUUDB cannot be reached`));
const required = (source: AttributeSource): ChainLink => ({ source, optional: false });

function chain(policy: CombiningPolicy, links: readonly ChainLink[], log = SILENT): AttributeChain {
  return new AttributeChain({ name: "chain", links: withAutomaticSource(links, policy), policy, log });
}

// The worked example of credentials.md 7.7.
const XUUDB = attributeSet({ role: ["user"], xlogin: ["a1001", "a1002"], group: ["hpc"] });
const FILE = attributeSet({ role: ["user", "admin"], group: ["proj1", "proj2"] }, {
  "uftpd.ALPHA.group": ["fast"],
});

/** Returns allowed values and default, such as `user, admin / user`, of role, account and group. */
function row({ standard, extra }: AttributeSet): readonly string[] {
  const show = (name: "role" | "xlogin" | "group") => {
    const values = standard.get(name);
    return values === undefined ? "none" : `${values.allowed.join(", ")} / ${values.preferred.join(", ")}`;
  };
  return [show("role"), show("xlogin"), show("group"), extra.get("uftpd.ALPHA.group")?.join(", ") ?? "none"];
}

const WORKED: readonly (readonly [CombiningPolicy, readonly string[]])[] = [
  ["MERGE_LAST_OVERRIDES", ["user, admin / user", "a1001, a1002 / a1001", "proj1, proj2 / proj1", "fast"]],
  ["MERGE", ["user, admin / user", "a1001, a1002, ann / ann", "hpc, proj1, proj2 / proj1", "fast"]],
  ["FIRST_APPLICABLE", ["user / user", "a1001, a1002 / a1001", "hpc / hpc", "none"]],
  ["FIRST_ACCESSIBLE", ["user / user", "a1001, a1002 / a1001", "hpc / hpc", "none"]],
];

for (const [policy, expected] of WORKED) {
  Deno.test(`AttributeChain combines the worked example by ${policy}`, async () => {
    const links = [required(fixed("XUUDB", XUUDB)), required(fixed("FILE", FILE))];
    assert.deepEqual(row(await chain(policy, links).attributesOf(ANN, signal)), expected);
  });
}

Deno.test("AttributeChain by FIRST_ACCESSIBLE asks the next source while one is down", async () => {
  const links = [required(down("XUUDB")), required(fixed("FILE", FILE))];
  const attributes = await chain("FIRST_ACCESSIBLE", links).attributesOf(ANN, signal);
  assert.deepEqual(row(attributes), ["user, admin / user", "none", "proj1, proj2 / proj1", "fast"]);
});

Deno.test("AttributeChain tolerates an outage of an optional source, but not an invalid entry of the user", async () => {
  const invalid = fixed("XUUDB", httpError("ERR_USER_ATTRIBUTE", "Attribute rateLimit of the user"));
  for (const policy of COMBINING_POLICIES) {
    const of = (source: AttributeSource) =>
      chain(policy, [{ source, optional: true }, required(fixed("FILE", FILE))]).attributesOf(ANN, signal);
    assert.deepEqual((await of(down("XUUDB"))).standard.get("group"), FILE.standard.get("group"), policy);
    await assert.rejects(of(invalid), { code: "ERR_USER_ATTRIBUTE" }, policy);
  }
});

/** States of a source, each with the role that it gives. */
const STATES = { knows: "user", denies: "banned", ignores: "", isDown: undefined };
type State = keyof typeof STATES;
const STATE_NAMES: readonly State[] = ["knows", "denies", "ignores", "isDown"];

/** Returns the role from two sources by the manual, with `?` if an outage may be the reason; `503` without an answer. */
function expectedRole(policy: CombiningPolicy, states: readonly State[]): string {
  const firstUp = states.findIndex((state) => state !== "isDown");
  if (policy === "FIRST_ACCESSIBLE" && firstUp < 0) return "503";
  const firstKnowing = states.findIndex((state) => state === "knows" || state === "denies");
  const last = policy === "FIRST_ACCESSIBLE"
    ? firstUp
    : policy === "FIRST_APPLICABLE" && firstKnowing >= 0
    ? firstKnowing
    : states.length - 1;
  const asked = states.slice(0, last + 1);
  const roles = asked.flatMap((state) => STATES[state] || []);
  const role = policy === "MERGE" && roles.includes("banned") ? "banned" : roles.at(-1) ?? "anonymous";
  return role + (asked.includes("isDown") ? "?" : "");
}

for (const policy of COMBINING_POLICIES) {
  Deno.test(`AttributeChain by ${policy} tells whether a source that was down may be the reason of the result`, async () => {
    const optional = (name: string, state: State): ChainLink => {
      const role = STATES[state];
      const source = role === undefined
        ? down(name)
        : fixed(name, attributeSet(role === "" ? {} : { role: [role] }));
      return { source, optional: true };
    };
    for (const a of STATE_NAMES) {
      for (const b of STATE_NAMES) {
        const whole = chain(policy, [optional("A", a), optional("B", b)]);
        const options = { preferences: {}, signal };
        const told = await userAttributes(whole, identity("CN=x"), options).then(
          ({ role, outage }) => role + (outage === undefined ? "" : "?"),
          ({ status }) => String(status),
        );
        assert.equal(told, expectedRole(policy, [a, b]), `${a}, ${b}`);
      }
    }
  });
}

Deno.test("AttributeChain passes an outage on from a nested chain", async () => {
  const nested = new AttributeChain({
    name: "nested",
    links: [{ source: down("A"), optional: true }],
    policy: "MERGE",
    log: SILENT,
  });
  const { outage } = await chain("MERGE", [required(nested)]).attributesOf(ANN, signal);
  assert.equal(outage?.code, "ERR_ATTRIBUTE_SOURCE");
});

Deno.test("AttributeChain by FIRST_ACCESSIBLE accepts an empty answer", async () => {
  const later = fixed("FILE", FILE);
  const links = [required(fixed("XUUDB", NO_ATTRIBUTES)), required(later)];
  assert.deepEqual(await chain("FIRST_ACCESSIBLE", links).attributesOf(ANN, signal), NO_ATTRIBUTES);
  assert.equal(later.asked, 0);
});

Deno.test("AttributeChain by FIRST_ACCESSIBLE fails if no source answers", async () => {
  const failing = chain("FIRST_ACCESSIBLE", [required(down("A")), required(down("B"))]);
  await assert.rejects(failing.attributesOf(ANN, signal), { code: "ERR_ATTRIBUTE_SOURCE" });
});

Deno.test("AttributeChain by FIRST_APPLICABLE skips empty answers, and stops at an extra attribute", async () => {
  const extra = attributeSet({}, { note: ["x"] });
  const later = fixed("LATER", FILE);
  const links = [required(fixed("EMPTY", NO_ATTRIBUTES)), required(fixed("EXTRA", extra)), required(later)];
  assert.deepEqual(await chain("FIRST_APPLICABLE", links).attributesOf(ANN, signal), extra);
  assert.equal(later.asked, 0);
});

Deno.test("AttributeChain by FIRST_APPLICABLE skips an entry that has only a mail address", async () => {
  const links = [
    required(fixed("MAIL", attributeSet({}, { mail: ["ann@example.org"] }))),
    required(fixed("FILE", FILE)),
  ];
  assert.deepEqual(await chain("FIRST_APPLICABLE", links).attributesOf(ANN, signal), FILE);
});

Deno.test("AttributeChain by FIRST_APPLICABLE ends with the automatic source", async () => {
  const links = [required(fixed("EMPTY", NO_ATTRIBUTES))];
  const attributes = await chain("FIRST_APPLICABLE", links).attributesOf(ANN, signal);
  assert.deepEqual(attributes, attributeSet({ role: ["user"], xlogin: ["ann"] }));
});

Deno.test("AttributeChain by MERGE keeps the last source's value last, also if an earlier source has it", async () => {
  const limit = (name: string, ...values: string[]) =>
    required(fixed(name, attributeSet({}, { "uftpd.HPC.rateLimit": values })));
  const sources = [limit("A", "1M"), limit("B", "2M"), limit("C", "1M")];
  const { extra } = await chain("MERGE", sources).attributesOf(identity("CN=x"), signal);
  assert.equal(extra.get("uftpd.HPC.rateLimit")?.at(-1), "1M");
});

Deno.test("AttributeChain by MERGE makes the last source's group primary, also the one of a server", async () => {
  const groups = (name: string, ...values: string[]) =>
    required(fixed(name, attributeSet({ group: values }, { "uftpd.ALPHA.group": values })));
  const sources = [groups("A", "users", "hpc"), groups("B", "proj1", "lab")];
  const user = selectAttributes(await chain("MERGE", sources).attributesOf(ANN, signal), {});
  const on = (server: string) => attributesOnServer(user, server, { log: SILENT });
  assert.equal(on("BETA").gid, "proj1");
  assert.equal(on("ALPHA").groups, "proj1:lab:users:hpc");
});

Deno.test("AttributeChain by MERGE joins extra values and keeps a default that a later source leaves open", async () => {
  const a = fixed("A", attributeSet({ group: ["g1"] }, { note: ["x", "y"] }));
  const b = fixed("B", attributeSet({ group: [] }, { note: ["y", "z"], other: [] }));
  const attributes = await chain("MERGE", [required(a), required(b)]).attributesOf(identity("CN=x"), signal);
  assert.deepEqual(attributes, attributeSet({ group: ["g1"] }, { note: ["x", "y", "y", "z"], other: [] }));
});

/** Limits by policy if two sources give them, in any spelling. */
const SPELLED: readonly (readonly [CombiningPolicy, limits: Readonly<Record<string, readonly string[]>>])[] =
  [
    ["MERGE_LAST_OVERRIDES", {
      "uftpd.S.rateLimit": ["1M"],
      "uftpd.S.excludes": ["/b/*"],
      "uftpd.T.group": ["t"],
    }],
    ["MERGE", {
      "uftpd.S.rateLimit": ["2M", "1M"],
      "uftpd.S.excludes": ["/a/*", "/b/*"],
      "uftpd.T.group": ["t"],
    }],
    ["FIRST_APPLICABLE", { "uftpd.S.rateLimit": ["2M"], "uftpd.S.excludes": ["/a/*"] }],
  ];

for (const [policy, limits] of SPELLED) {
  for (const [earlier, later] of [["uftpd", "daemon"], ["daemon", "uftpd"], ["daemon", "daemon"]]) {
    Deno.test(`AttributeChain by ${policy} combines ${earlier}.S with ${later}.S as one attribute`, async () => {
      const a = attributeSet({}, { [`${earlier}.S.rateLimit`]: ["2M"], [`${earlier}.S.excludes`]: ["/a/*"] });
      const b = attributeSet({}, {
        [`${later}.S.rateLimit`]: ["1M"],
        [`${later}.S.excludes`]: ["/b/*"],
        "daemon.T.group": ["t"],
      });
      const links = [required(fixed("A", a)), required(fixed("B", b))];
      const { extra } = await chain(policy, links).attributesOf(identity("CN=x"), signal);
      assert.deepEqual(Object.fromEntries(extra), limits);
    });
  }
}

Deno.test("AttributeChain prefers the uftpd spelling of one source, and logs it", async () => {
  const lines: string[] = [];
  const log = createLogger((line) => lines.push(line));
  const both = fixed("BOTH", attributeSet({}, { "daemon.S.xlogin": ["d"], "uftpd.S.xlogin": ["u"] }));
  const { extra } = await chain("MERGE", [required(both)], log).attributesOf(identity("CN=x"), signal);
  assert.deepEqual(Object.fromEntries(extra), { "uftpd.S.xlogin": ["u"] });
  assert.match(
    lines.join("\n"),
    /warn {2}two spellings of one attribute used=uftpd.S.xlogin ignored=daemon.S.xlogin/,
  );
});

Deno.test("AttributeChain by MERGE_LAST_OVERRIDES lets a map override what the identity provider assigned", async () => {
  const caller = identity("CN=x", { uid: "idp", role: "user", groups: ["idp1", "idp2"] });
  const links = [required(fixed("FILE", attributeSet({ role: ["banned"], xlogin: [], group: ["hpc"] })))];
  assert.deepEqual(
    await chain("MERGE_LAST_OVERRIDES", links).attributesOf(caller, signal),
    attributeSet({ role: ["banned"], xlogin: [], group: ["hpc"] }),
  );
});

for (const policy of ["MERGE_LAST_OVERRIDES", "MERGE", "FIRST_APPLICABLE"] as const) {
  Deno.test(`AttributeChain by ${policy} fails while a required source is down`, async () => {
    const links = [required(down("XUUDB")), required(fixed("FILE", FILE))];
    await assert.rejects(chain(policy, links).attributesOf(ANN, signal), { status: 503 });
  });

  Deno.test(`AttributeChain by ${policy} skips an optional source that is down, and logs it`, async () => {
    const lines: string[] = [];
    const links = [{ source: down("XUUDB"), optional: true }, required(fixed("FILE", FILE))];
    const attributes = await chain(policy, links, createLogger((line) => lines.push(line))).attributesOf(
      ANN,
      signal,
    );
    assert.equal(row(attributes)[3], "fast");
    assert.match(lines.join("\n"), /warn {2}attribute source skipped source=XUUDB/);
  });
}

Deno.test("AttributeChain does not treat a programming error as a source that is down", async () => {
  const links = [{ source: fixed("A", new TypeError("x")), optional: true }];
  for (const policy of COMBINING_POLICIES) {
    await assert.rejects(chain(policy, links).attributesOf(ANN, signal), TypeError);
  }
});

Deno.test("withAutomaticSource() adds the source first or last, and only once", () => {
  const names = (links: readonly ChainLink[], policy: CombiningPolicy) =>
    withAutomaticSource(links, policy).map(({ source }) => source.name);
  const file = required(fixed("FILE", FILE));
  assert.deepEqual(names([file], "MERGE_LAST_OVERRIDES"), ["AUTO", "FILE"]);
  for (const policy of ["MERGE", "FIRST_APPLICABLE"] as const) {
    assert.deepEqual(names([file], policy), ["FILE", "AUTO"]);
  }
  assert.deepEqual(names([file], "FIRST_ACCESSIBLE"), ["FILE"], "it would decide during an outage");
  assert.deepEqual(names([], "FIRST_ACCESSIBLE"), ["AUTO"]);
  const pam = required(new AutomaticSource("PAM"));
  for (const policy of COMBINING_POLICIES) assert.deepEqual(names([file, pam], policy), ["FILE", "PAM"]);
});

Deno.test("AttributeChain closes its sources", () => {
  const [a, b] = [fixed("A", FILE), fixed("B", FILE)];
  chain("MERGE", [required(a), required(b)]).close();
  assert.deepEqual([a.closed, b.closed], [1, 1]);
});

Deno.test("AutomaticSource gives the role user to every identity with an account", async () => {
  const of = (more: Parameters<typeof identity>[1]) =>
    new AutomaticSource().attributesOf(identity("CN=x", more));
  assert.deepEqual(await of({ uid: "ann" }), attributeSet({ role: ["user"], xlogin: ["ann"] }));
  assert.deepEqual(
    await of({ uid: "ann", role: "admin" }),
    attributeSet({ role: ["admin"], xlogin: ["ann"] }),
  );
  assert.deepEqual(await of({ role: "staff" }), attributeSet({ role: ["staff"] }));
  assert.deepEqual(
    await of({ uid: "a", groups: ["g", "h"] }),
    attributeSet({ role: ["user"], xlogin: ["a"], group: ["g", "h"] }),
  );
  assert.deepEqual(await of({ groups: [] }), NO_ATTRIBUTES);
});

const nobody = identity("CN=Nobody");
testAttributeSource({
  name: "AutomaticSource",
  create: () =>
    Promise.resolve({ source: new AutomaticSource("PAM"), [Symbol.asyncDispose]: () => Promise.resolve() }),
  configuredName: "PAM",
  known: ANN,
  knownOtherwise: { ...ANN, dn: "cn=ann" },
  attributes: attributeSet({ role: ["user"], xlogin: ["ann"] }),
  unknown: nobody,
});

testAttributeSource({
  name: "AttributeChain",
  create: () =>
    Promise.resolve({ source: chain("MERGE", []), [Symbol.asyncDispose]: () => Promise.resolve() }),
  configuredName: "chain",
  known: ANN,
  knownOtherwise: { ...ANN, dn: "cn=ann" },
  attributes: attributeSet({ role: ["user"], xlogin: ["ann"] }),
  unknown: nobody,
  createBroken: () =>
    Promise.resolve({
      source: chain("MERGE", [required(down("X"))]),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
});
