import assert from "node:assert/strict";
import {
  type BanOrder,
  type BanProbe,
  checkBans,
  checkDrop,
  checkRecoveries,
  checkShare,
  checkToken,
  type DropPast,
  type DropRow,
  type Outcome,
  type SharePast,
  type ShareRow,
  type TokenPast,
} from "./history.ts";

const past = (outcomes: readonly Outcome[], more: Partial<SharePast> = {}): SharePast => ({
  id: "s",
  mostUses: 1,
  uses: outcomes.map((outcome, i) => ({ began: i * 10, outcome })),
  ...more,
});
const kept = (accessCount: number, usesLeft = 1 - accessCount, uses = accessCount): ShareRow => ({
  id: "s",
  accessCount,
  usesLeft,
  uses,
});

const CASES: readonly [
  what: string,
  past: SharePast,
  row: ShareRow | undefined,
  found: RegExp | undefined,
][] = [
  ["one use", past([200, 404, 503]), kept(1), undefined],
  ["an unacknowledged use", past(["cut", 404]), kept(1), undefined],
  ["two uses of a one-time share", past([200, 200]), kept(2), /for 1 uses was used 2 times/],
  ["an uncounted use", past([200]), kept(0), /counts 0 uses; clients had 1/],
  ["a count without a use", past([404]), kept(1), /counts 1 uses; clients had 0, and 0 unknown/],
  ["a count without its record", past([200]), kept(1, 0, 0), /counts 1 uses and records 0/],
  ["an inconsistent number of uses left", past([200]), kept(1, 1), /has 1 of 1 uses left after 1/],
  ["an unexpected answer", past([418]), kept(0), /answered 418/],
  ["a lost share", past([]), undefined, /acknowledged and is lost/],
  ["a removal", past([200], { removal: { asked: 5, acknowledged: 6 } }), undefined, undefined],
  ["an unacknowledged removal", past([], { removal: { asked: 5 } }), kept(0), undefined],
  [
    "a share that exists after its removal",
    past([], { removal: { asked: 5, acknowledged: 6 } }),
    kept(0),
    /is there although/,
  ],
  [
    "a use after the removal",
    past([404, 200], { removal: { asked: 5, acknowledged: 6 } }),
    undefined,
    /used after its removal/,
  ],
];

for (const [what, share, row, expected] of CASES) {
  Deno.test(`checkShare() ${expected === undefined ? "accepts" : "notices"} ${what}`, () => {
    const found = checkShare(share, row);
    if (expected === undefined) assert.deepEqual(found, []);
    else assert.match(found.join("\n"), expected);
  });
}

Deno.test("checkRecoveries() notices an instance that serves later than 20 s after a fault", () => {
  const recovery = { fault: "a fault", instance: 2, waitedMs: 500 };
  assert.deepEqual(checkRecoveries([{ ...recovery, ms: 20_500 }]), []);
  assert.deepEqual(checkRecoveries([{ ...recovery, ms: 20_501 }]), [
    "instance 2 served 20.5 s after the end of: a fault; 0.5 s of them a thread waited for a processor",
  ]);
  assert.equal(
    checkRecoveries([{ ...recovery, ms: 40_001, waitedMs: 39_000 }]).length,
    1,
    "half of it at most",
  );
});

const use = (outcome: Outcome, more: Partial<TokenPast["uses"][number]> = {}) => ({
  at: 1,
  outcome,
  mustKnow: false,
  isLast: false,
  ...more,
});
const token = (uses: TokenPast["uses"], more: Partial<TokenPast> = {}): TokenPast => ({
  text: "t",
  id: "1",
  isUnclear: false,
  uses,
  ...more,
});
const revocation = { at: 1, acknowledged: 5 };

const TOKENS: readonly [what: string, past: TokenPast, found: RegExp | undefined][] = [
  ["uses", token([use(200), use(503), use("cut"), use(200, { isLast: true })]), undefined],
  ["a revocation", token([use(200), use(401, { mustKnow: true, isLast: true })], { revocation }), undefined],
  ["an unacknowledged revocation", token([use(401)], { revocation: { at: 1 } }), undefined],
  ["a revocation of all meanwhile", token([use(401, { isLast: true })], { isUnclear: true }), undefined],
  ["a use after its end", token([use(200, { mustKnow: true })], { revocation }), /took token 1 after/],
  ["a lost token", token([use(401)]), /refused token 1, which nobody took back/],
  ["an unexpected answer", token([use(500), use(403)]), /answered token 1 with 403/],
  ["no answer in the end", token([use(503, { isLast: true })]), /with 503 in the end/],
];
for (const [what, past, expected] of TOKENS) {
  Deno.test(`checkToken() ${expected === undefined ? "accepts" : "notices"} ${what}`, () => {
    const found = checkToken(past);
    if (expected === undefined) assert.deepEqual(found, []);
    else assert.match(found.join("\n"), expected);
  });
}

const order = (isBan: boolean, isSure = true): BanOrder => ({ isBan, isSure, isKnown: true, at: 0 });
const answers = (outcomes: readonly Outcome[], isBan = false, mustKnow = false): BanProbe[] =>
  outcomes.map((outcome, at) => ({ at, isBan, mustKnow, outcome }));

const BANS: readonly [
  what: string,
  orders: readonly BanOrder[],
  probes: readonly BanProbe[],
  last: readonly BanProbe[],
  found: RegExp | undefined,
][] = [
  ["a ban", [order(true)], answers([429, 503, "cut"], true, true), answers([429, 429]), undefined],
  ["its end", [order(true), order(false)], answers([200], false, true), answers([200, 200]), undefined],
  ["a late answer of others", [order(true)], answers([200], true), answers([429]), undefined],
  ["a ban reported later", [order(true, false), order(false, false)], [], answers([429, 429]), undefined],
  ["a ban without effect", [order(true)], answers([200], true, true), answers([429]), /200 after a ban/],
  ["a ban after its end", [order(false)], answers([429], false, true), answers([200]), /429 after the end/],
  ["different answers", [order(true)], [], answers([429, 200]), /instances differ about a ban: 429, 200/],
  ["a lost ban", [order(true)], [], answers([200, 200]), /a ban is lost/],
  ["a restored ban", [order(true), order(false)], [], answers([429, 429]), /a ban is still there/],
];
for (const [what, orders, probes, last, expected] of BANS) {
  Deno.test(`checkBans() ${expected === undefined ? "accepts" : "notices"} ${what}`, () => {
    const found = checkBans(orders, probes, last);
    if (expected === undefined) assert.deepEqual(found, []);
    else assert.match(found.join("\n"), expected);
  });
}

const drop = (...files: (readonly [content: string, ...outcomes: Outcome[]])[]): DropPast => ({
  id: "d",
  mostFiles: 2,
  mostBytes: 6,
  files: files.map(([content, ...outcomes]) => ({ key: content, content, outcomes })),
});
const files = (...contents: readonly string[]) => new Map(contents.map((text, i) => [`${i}`, text]));
const counted = (receivedFiles: number, unfinished = 0, receivedBytes = 3 * receivedFiles): DropRow => ({
  receivedFiles,
  receivedBytes,
  unfinished,
});

const DROPS: readonly [
  what: string,
  past: DropPast,
  there: ReadonlyMap<string, string>,
  row: DropRow,
  found: RegExp | undefined,
][] = [
  ["uploads", drop(["aaa", 503, 201], ["bbb", "cut"]), files("aaa", "bbb"), counted(2), undefined],
  ["an unfinished upload", drop(["aaa", 503]), files(), counted(1, 1), undefined],
  ["an upload refused by the quota", drop(["aaa", 201], ["bbb", 507]), files("aaa"), counted(1), undefined],
  ["a file twice", drop(["aaa", 201]), files("aaa", "aaa"), counted(2), /aaa is there 2 times/],
  ["a lost file", drop(["aaa", 201]), files(), counted(1, 1), /acknowledged and is lost/],
  ["half a file", drop(["aaa", 201]), files("aa"), counted(1, 0), /1 files that nobody uploaded/],
  ["too many", drop(["a"], ["b"], ["c"]), files("a", "b", "c"), counted(2), /for 2 files .* has 3/],
  ["too much counted", drop(["aaa"]), files("aaa"), counted(3, 2), /counts 3 files/],
  ["too little counted", drop(["aaa"]), files("aaa"), counted(0), /counts 0 files, has 1/],
  ["quota that is not released", drop(["aaa"]), files("aaa"), counted(2), /counts 2 files, has 1/],
];
for (const [what, past, there, row, expected] of DROPS) {
  Deno.test(`checkDrop() ${expected === undefined ? "accepts" : "notices"} ${what}`, () => {
    const found = checkDrop(past, there, row);
    if (expected === undefined) assert.deepEqual(found, []);
    else assert.match(found.join("\n"), expected);
  });
}
