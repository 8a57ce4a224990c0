/** Limits of expressions (authentication.md 6.2). */
export const MAX_STEPS = 10_000;
/** Longest source and longest result, in UTF-16 units. */
export const MAX_TEXT = 64 * 1024;
/** Nested parentheses, brackets, conditionals and blocks. */
export const MAX_NESTING = 32;
