/** An expression as a tree. `at` is the offset in the source that messages point to. */
export type Expression =
  | { readonly kind: "string"; readonly at: number; readonly text: string }
  | { readonly kind: "integer"; readonly at: number; readonly value: number }
  | { readonly kind: "constant"; readonly at: number; readonly value: boolean | null }
  | { readonly kind: "variable"; readonly at: number; readonly name: string }
  | { readonly kind: "list"; readonly at: number; readonly items: readonly Expression[] }
  /** Terms joined with `+`, at least two. */
  | { readonly kind: "sum"; readonly at: number; readonly terms: readonly Expression[] }
  /** Operands joined with `&&` or `||`, at least two. */
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
  /** A value and what is done to it, from left to right. */
  | {
    readonly kind: "access";
    readonly at: number;
    readonly base: Expression;
    readonly steps: readonly AccessStep[];
  };

/** What may follow a value: `[index]`, `.member`, `.method(…)`. `at` is the place in the text, for messages. */
export type AccessStep =
  | { readonly kind: "index"; readonly at: number; readonly index: Expression }
  | { readonly kind: "member"; readonly at: number; readonly name: string }
  | {
    readonly kind: "call";
    readonly at: number;
    readonly method: string;
    readonly args: readonly Expression[];
  };

/** Types that `instanceof` knows. */
export type TypeName = "String" | "List" | "Map";

/** A statement of the second level of the grammar. */
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

/** Statements one after the other. */
export type Block = readonly Statement[];
