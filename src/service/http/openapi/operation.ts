import type { Schema } from "./schema.ts";
import type { SchemaName } from "./schemas.ts";

/** Description of a route for OpenAPI. */
export interface Operation {
  /** camelCase, unique; the method name in generated clients. */
  readonly id: string;
  /** A few words, without full stop. */
  readonly summary: string;
  /** Whole sentences. */
  readonly details?: string;
  readonly query?: Readonly<Record<string, Schema>>;
  /** Absent without a body. */
  readonly body?: SchemaName | "bytes";
  /** By status, without errors. */
  readonly answers: Readonly<Record<number, AnswerContent>>;
  /** Errors beyond those in `error_answers.ts`. */
  readonly refusals?: readonly number[];
}

/** Answer of an operation. */
export interface AnswerContent {
  readonly description: string;
  /** By media type, without pages; absent without a body. */
  readonly content?: Readonly<Record<string, SchemaName | "text" | "bytes">>;
  /** Descriptions by header. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns a JSON answer. */
export function jsonAnswer(description: string, schema: SchemaName): AnswerContent {
  return { description, content: { "application/json": schema } };
}
