import type { Schema } from "./schema.ts";
import type { SchemaName } from "./schemas.ts";

/** What the API description says about one method of one resource; part of its route, so that neither is without the other. */
export interface Operation {
  /** Names the operation in programs that are made from the description: camelCase, unique. */
  readonly id: string;
  /** A few words, without final full stop. */
  readonly summary: string;
  /** Whole sentences. */
  readonly details?: string;
  readonly query?: Readonly<Record<string, Schema>>;
  /** What the body is; absent: there is none. */
  readonly body?: SchemaName | "bytes";
  /** Status of each answer that is no error -> what it brings. */
  readonly answers: Readonly<Record<number, AnswerContent>>;
  /** Error statuses of this operation, beside those that `error_answers.ts` knows every operation of its kind to have. */
  readonly refusals?: readonly number[];
}

/** One answer. */
export interface AnswerContent {
  readonly description: string;
  /** Media type -> what it holds, but for pages, which whoever prefers `text/html` gets; absent: there is no body. */
  readonly content?: Readonly<Record<string, SchemaName | "text" | "bytes">>;
  /** Name of a header -> what it says. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer in JSON. */
export function jsonAnswer(description: string, schema: SchemaName): AnswerContent {
  return { description, content: { "application/json": schema } };
}
