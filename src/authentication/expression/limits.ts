/** Bounds that keep every expression short and its evaluation brief (authentication.md 6.2). */
export const MAX_STEPS = 10_000;
/** Longest source, and longest text an expression may make; in UTF-16 units. */
export const MAX_TEXT = 64 * 1024;
/** Parentheses, brackets, conditionals and blocks inside each other. */
export const MAX_NESTING = 32;
