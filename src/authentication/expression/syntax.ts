/** Expression tree; `at` is the source offset for messages. */
export type Expression =
  | { readonly kind: "string"; readonly at: number; readonly text: string }
  | { readonly kind: "integer"; readonly at: number; readonly value: number }
  | { readonly kind: "constant"; readonly at: number; readonly value: boolean | null }
  | { readonly kind: "variable"; readonly at: number; readonly name: string }
  | { readonly kind: "list"; readonly at: number; readonly items: readonly Expression[] }
  /** At least two terms. */
  | { readonly kind: "sum"; readonly at: number; readonly terms: readonly Expression[] }
  /** At least two operands. */
  | { readonly kind: "all" | "any"; readonly at: number; readonly operands: readonly Expression[] }
  | { readonly kind: "not"; readonly at: number; readonly operand: Expression }
  | {
    readonly kind: "comparison";
    readonly at: number;
    readonly equal: boolean;
    readonly left: Expression;
    readonly right: Expression;
  }
  | { readonly kind: "typeTest"; readonly at: number; readonly operand: Expression; readonly type: TypeName }
  | {
    readonly kind: "conditional";
    readonly at: number;
    readonly test: Expression;
    readonly then: Expression;
    readonly otherwise: Expression;
  }
  | {
    readonly kind: "access";
    readonly at: number;
    readonly base: Expression;
    readonly steps: readonly AccessStep[];
  };

/** Access to a value: `[index]`, `.member`, `.method(…)`. */
export type AccessStep =
  | { readonly kind: "index"; readonly at: number; readonly index: Expression }
  | { readonly kind: "member"; readonly at: number; readonly name: string }
  | {
    readonly kind: "call";
    readonly at: number;
    readonly method: string;
    readonly args: readonly Expression[];
  };

/** Types for `instanceof`. */
export type TypeName = "String" | "List" | "Map";

/** Statement (second level of the grammar). */
export type Statement =
  | { readonly kind: "expression"; readonly expression: Expression }
  | { readonly kind: "return"; readonly expression: Expression }
  | {
    readonly kind: "assignment";
    readonly at: number;
    readonly name: string;
    readonly value: Expression;
  }
  | {
    readonly kind: "if";
    readonly branches: readonly { readonly test: Expression; readonly body: Block }[];
    readonly otherwise: Block;
  }
  | {
    readonly kind: "for";
    readonly at: number;
    readonly name: string;
    readonly list: Expression;
    readonly body: Block;
  }
  | { readonly kind: "while"; readonly test: Expression; readonly body: Block };

/** Sequence of statements. */
export type Block = readonly Statement[];
