import { attempt } from "../model/attempt.ts";
import { type Logger, SILENT } from "../logging/logger.ts";
import { groupNames, isUserAccount } from "../model/account_name.ts";
import { type Diagnostic, InvalidFile } from "../model/diagnostic.ts";
import { printable } from "../model/text.ts";
import { textsOf } from "./claims.ts";
import { checkIdentity, NoIdentity } from "./check_identity.ts";
import { httpError } from "../model/http_error.ts";
import { compileExpression, type Expression } from "./expression/expression.ts";
import { InvalidExpression } from "./expression/tokenizer.ts";
import type { Variables } from "./expression/value.ts";
import type { AssignmentsConfig, ExpressionConfig } from "../config/read_assignments.ts";

const LONGEST_NAME = 100; // characters of a display name

/** Role with public reads only (credentials.md 8.3), for users whose role is unclear. */
const NO_ROLE = "anonymous";

/**
 * Expressions `identityAssign`, `uidAssign` etc. (credentials.md 6). If one fails, its attribute is
 * omitted and logged, except that a failed role must not fall back to `user`.
 */
export class Assignments {
  readonly #identity: Expression | undefined;
  readonly #uid: Expression | undefined;
  readonly #role: Expression | undefined;
  readonly #groups: Expression | undefined;
  readonly #others: readonly (readonly [name: string, expression: Expression])[];
  readonly #displayName: Expression | undefined;
  readonly #unixGroups: UnixGroups;
  readonly #log: Logger;

  /** @throws {InvalidFile} With all diagnostics of the expressions. */
  constructor(config: AssignmentsConfig, log: Logger) {
    const diagnostics: Diagnostic[] = [];
    const compile = (expression: ExpressionConfig | undefined) =>
      expression && compiled(expression, (diagnostic) => diagnostics.push(diagnostic));
    this.#identity = compile(config.identity);
    this.#uid = compile(config.uid);
    this.#role = compile(config.role);
    this.#groups = compile(config.groups);
    this.#others = (config.others ?? []).flatMap(({ name, value }) => {
      const expression = compile(value);
      return expression === undefined ? [] : [[name, expression]];
    });
    this.#displayName = compile(config.displayName);
    this.#unixGroups = new UnixGroups("groups left out that are no group names", log);
    this.#log = log;
    if (diagnostics.length > 0) throw new InvalidFile(diagnostics);
  }

  get namesUsers(): boolean {
    return this.#identity !== undefined;
  }

  /** Evaluates `identityAssign`. @throws {NoIdentity} */
  identity(variables: Variables): string {
    const name = attempt(() => this.#identity?.name(variables), InvalidExpression, ({ message }) => {
      throw new NoIdentity(`identityAssign fails: ${message}`);
    });
    if (name === undefined) throw new NoIdentity("identityAssign gives nothing");
    return checkIdentity(name);
  }

  /**
   * Returns account, role and groups, and for display the name and verified mail, which prove nothing. An error in one of
   * the three drops all of them (credentials.md 5.1), and leaves no default role where one is assigned.
   * @param account Account without `uidAssign`.
   */
  attributes(variables: Variables, account?: string) {
    let isWhole = true;
    const part = <T>(property: string, evaluate: () => T) =>
      this.#attempt(property, evaluate, () => isWhole = false);
    const uid = part("uidAssign", () => {
      const uid = this.#uid === undefined ? account : this.#uid.text(variables);
      if (uid !== undefined && !isUserAccount(uid)) throw new UnusableResult("is no account name");
      return uid;
    });
    const role = part("roleAssign", () => {
      const role = this.#role?.text(variables);
      if (role !== undefined && !/^[A-Za-z][A-Za-z0-9_-]*$/.test(role)) {
        throw new UnusableResult("is no role");
      }
      return role;
    });
    const groups = part(
      "groupsAssign",
      () =>
        this.#unixGroups.usable((this.#groups?.list(variables) ?? []).map((group) => ({
          name: group.raw,
          external: group.external.length > 0,
        }))),
    ) ?? [];
    const mail = verifiedMail(variables);
    const people = { displayName: this.#nameOf(variables), mail };
    if (!isWhole) return { uid: undefined, role: this.#role && NO_ROLE, ...people };
    return { uid, role, ...(groups.length > 0 && { groups }), ...people };
  }

  /** Evaluates `displayNameAssign`; omits names that are too long or cannot be printed. */
  #nameOf(variables: Variables): string | undefined {
    const text = (name: string) => textsOf(variables.get(name))[0];
    const name = this.#displayName === undefined
      ? text("name") ?? text("preferred_username") ?? verifiedMail(variables)
      : this.#attempt("displayNameAssign", () => this.#displayName?.text(variables));
    return name !== undefined && name !== "" && name.length <= LONGEST_NAME && printable(name) === name
      ? name
      : undefined;
  }

  /** Evaluates the other attributes. @throws {ERR_USER_ATTRIBUTE} If one fails: a missing limit would allow more. */
  others(variables: Variables): ReadonlyMap<string, readonly string[]> {
    return new Map(this.#others.flatMap(([name, expression]) => {
      const values = attempt(() => expression.list(variables), InvalidExpression, (error) => {
        throw httpError("ERR_USER_ATTRIBUTE", `Attribute ${name} of the user: ${error.message}`, error);
      });
      return values.length === 0 ? [] : [[name, values.map(({ raw }) => raw)]];
    }));
  }

  #attempt<T>(property: string, evaluate: () => T, failed = () => {}): T | undefined {
    try {
      return evaluate();
    } catch (error) {
      if (!(error instanceof InvalidExpression || error instanceof UnusableResult)) throw error;
      this.#log.warn("assignment failed", { property, error });
      failed();
    }
  }
}

/** Returns the diagnostics of an authenticator's expressions. */
export function inspectAssignments(config: AssignmentsConfig): readonly Diagnostic[] {
  return attempt(() => (new Assignments(config, SILENT), []), InvalidFile, ({ diagnostics }) => diagnostics);
}

function compiled(
  { text, origin }: ExpressionConfig,
  report: (diagnostic: Diagnostic) => void,
): Expression | undefined {
  return attempt(() => compileExpression(text), InvalidExpression, ({ message }) => {
    const expected = `Expected an expression as the manual describes: ${message}`;
    report({ severity: "error", ...origin, found: text.slice(0, 200), expected });
    return undefined;
  });
}

function verifiedMail(variables: Variables): string | undefined {
  const text = (name: string) => textsOf(variables.get(name))[0];
  return text("email_verified") === "true" ? text("email") : undefined;
}

class UnusableResult extends Error {}

/** Group that an identity provider or an operator's expression assigns to a user. */
interface AssignedGroup {
  readonly name: string; // from the operator also several with `:` between, as in a map entry
  /** Whether the provider wrote part of it: its users can choose names, so `mine:hpc` must not become `hpc`. */
  readonly external: boolean;
}

/** Filter of groups that a daemon accepts; providers list many others. */
export class UnixGroups {
  #warned = false;

  /** @param message Log text; a warning only the first time. */
  constructor(readonly message: string, readonly log: Logger) {}

  usable(given: readonly AssignedGroup[]): readonly string[] {
    const isUsable = ({ name, external }: AssignedGroup) =>
      (external ? [name] : groupNames(name)).every(isUserAccount);
    const usable = given.filter(isUsable);
    const unusable = given.find((group) => !isUsable(group));
    if (unusable !== undefined) {
      const facts = { example: unusable.name.slice(0, 100), left: given.length - usable.length };
      this.log[this.#warned ? "debug" : "warn"](this.message, facts);
      this.#warned = true;
    }
    return [...new Set(usable.map(({ name }) => name))];
  }
}
