import type { Schema } from "./schema.ts";
import type { SchemaName } from "./schemas.ts";

/** Description of a route for OpenAPI. */
export interface Operation {
  readonly id: string; // camelCase, unique; the method name in generated clients
  readonly summary: string; // a few words, without full stop
  readonly details?: string; // whole sentences
  readonly query?: Readonly<Record<string, Schema>>;
  readonly body?: SchemaName | "bytes"; // absent without a body
  readonly answers: Readonly<Record<number, AnswerContent>>; // by status, without errors
  readonly refusals?: readonly number[]; // errors beyond those of `errorsOf()`
}

/** Answer of an operation. */
export interface AnswerContent {
  readonly description: string;
  /** By media type, without pages; absent without a body. */
  readonly content?: Readonly<Record<string, SchemaName | "text" | "bytes">>;
  readonly headers?: Readonly<Record<string, string>>; // descriptions by header
}

/** Returns a JSON answer. */
export function jsonAnswer(description: string, schema: SchemaName): AnswerContent {
  return { description, content: { "application/json": schema } };
}

/** Errors of session requests to a daemon. */
export const OF_SESSIONS: readonly number[] = [404, 501, 502, 504];
