import assert from "node:assert/strict";
import type { AttributeSource } from "../../src/attributes/attribute_source.ts";
import { type AttributeSet, NO_ATTRIBUTES } from "../../src/model/attributes.ts";
import type { Identity } from "../../src/model/identity.ts";
import { HttpError } from "../../src/model/http_error.ts";

/** Source under test; released after each fact. */
export interface Subject extends AsyncDisposable {
  readonly source: AttributeSource;
}

export interface Expectations {
  /** Subject of the tests, such as `fileAttributeSource()`. */
  readonly name: string;
  create(): Promise<Subject>;
  /** Name the source was created with. */
  readonly configuredName: string;
  /** A user the source knows, and the same user with the name spelled differently. */
  readonly known: Identity;
  readonly knownOtherwise: Identity;
  readonly attributes: AttributeSet;
  readonly unknown: Identity;
  /** Creates a source that is out of order; absent if a source cannot be. */
  createBroken?(): Promise<Subject>;
}

const signal = new AbortController().signal;

/** Registers the tests that every attribute source must pass. */
export function testAttributeSource(expectations: Expectations): void {
  const { name, create, configuredName, known, knownOtherwise, attributes, unknown, createBroken } =
    expectations;

  const facts: readonly (readonly [string, (source: AttributeSource) => Promise<void>])[] = [
    ["has its configured name", (source) => Promise.resolve(assert.equal(source.name, configuredName))],
    ["returns the attributes of a user", async (source) => {
      assert.deepEqual(await source.attributesOf(known, signal), attributes);
    }],
    ["knows the user by any spelling of the name", async (source) => {
      assert.deepEqual(await source.attributesOf(knownOtherwise, signal), attributes);
    }],
    ["returns no attributes for an unknown user, without an error", async (source) => {
      assert.deepEqual(await source.attributesOf(unknown, signal), NO_ATTRIBUTES);
    }],
    ["answers simultaneous requests for different users correctly", async (source) => {
      const users = [known, unknown, knownOtherwise, unknown, known];
      const answers = await Promise.all(users.map((user) => source.attributesOf(user, signal)));
      assert.deepEqual(answers, [attributes, NO_ATTRIBUTES, attributes, NO_ATTRIBUTES, attributes]);
    }],
    ["returns the same answer again", async (source) => {
      await source.attributesOf(known, signal);
      assert.deepEqual(await source.attributesOf(known, signal), attributes);
    }],
    ["can be closed twice", (source) => {
      source.close();
      source.close();
      return Promise.resolve();
    }],
  ];
  for (const [fact, test] of facts) {
    Deno.test(`${name} ${fact}`, async () => {
      await using subject = await create();
      await test(subject.source);
    });
  }

  if (createBroken === undefined) return;
  Deno.test(`${name} fails with status 503 while it is out of order`, async () => {
    await using subject = await createBroken();
    await assert.rejects(
      () => subject.source.attributesOf(known, signal),
      (error) => error instanceof HttpError && error.status === 503,
    );
  });
}

/** Returns an attribute set of plain values; defaults of standard attributes follow the rule. */
export function attributeSet(
  standard: Readonly<Record<string, readonly string[]>>,
  extra: Readonly<Record<string, readonly string[]>> = {},
): AttributeSet {
  const names = ["role", "xlogin", "group", "supplementaryGroups", "addDefaultGroups", "queue"] as const;
  return {
    standard: new Map(names.flatMap((key) => {
      const allowed = standard[key];
      if (allowed === undefined) return [];
      return [[key, { allowed, preferred: key === "supplementaryGroups" ? allowed : allowed.slice(0, 1) }]];
    })),
    extra: new Map(Object.entries(extra)),
  };
}

/** Returns an identity with this name. */
export function identity(dn: string, more: Partial<Identity> = {}): Identity {
  return { dn, method: "PASSWORD_FILE", via: "PASSWORD", ...more };
}
