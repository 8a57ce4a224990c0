import { createHash } from "node:crypto";
import STYLE from "./style.css" with { type: "text" };

/** Permissions of a page besides its style sheet. */
export interface PageNeeds {
  readonly script?: string | undefined; // text of its script
  readonly connects?: true | undefined; // the script may call this service
  readonly forms?: true | undefined; // forms post only to this service
  readonly images?: true; // pictures come only from this service
}

const STYLE_SOURCE = source(STYLE);

/** Returns the content security policy (CSP level 3; Trusted Types): no foreign content, style and script by hash, no framing. */
export function policyOf({ script, connects, forms, images }: PageNeeds = {}): string {
  const directives = [
    "default-src 'none'",
    `style-src ${STYLE_SOURCE}`,
    `img-src data:${images ? " 'self'" : ""}`,
    ...(script === undefined ? [] : [`script-src ${source(script)}`]),
    ...(connects ? ["connect-src 'self'"] : []),
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
