import { createHash } from "node:crypto";
import { STYLE } from "./style.ts";

/** What a page needs besides its text and the one style sheet; all else is forbidden to it. */
export interface PageNeeds {
  /** Text of its one script, our own. It may ask this service and nobody else. */
  readonly script?: string | undefined;
  /** Whether it has forms; they go to this service alone. */
  readonly forms?: true | undefined;
  /** Whether it shows pictures that this service has. */
  readonly images?: true;
}

const STYLE_SOURCE = source(STYLE);

/**
 * Content security policy of a page (CSP level 3; Trusted Types): nothing from elsewhere, style sheet and script known by
 * their hashes, no text becomes script, and no other site shows the page in a frame.
 */
export function policyOf({ script, forms, images }: PageNeeds = {}): string {
  const directives = [
    "default-src 'none'",
    `style-src ${STYLE_SOURCE}`,
    `img-src data:${images ? " 'self'" : ""}`,
    ...(script === undefined ? [] : [`script-src ${source(script)}`, "connect-src 'self'"]),
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    "base-uri 'none'",
    `form-action ${forms ? "'self'" : "'none'"}`,
    "frame-ancestors 'none'",
  ];
  return directives.join("; ");
}

function source(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
