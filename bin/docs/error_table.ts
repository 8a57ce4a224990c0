import { type ErrorCode, ERRORS } from "../../src/model/errors.ts";
import { ERROR_MEANINGS } from "./error_meanings.ts";

/** The manual's page of error codes. */
export function errorTable(): string {
  const codes = Object.keys(ERRORS).filter((code): code is ErrorCode => code in ERROR_MEANINGS);
  const rows = codes.map((code) => {
    const [{ status }, { meaning, remedy }] = [ERRORS[code], ERROR_MEANINGS[code]];
    return `| <a id="${code.toLowerCase()}"></a>\`${code}\` | ${status} | ${meaning} | ${remedy} |`;
  });
  const { status, text } = ERRORS.ERR_UNKNOWN_SERVER;
  return `# Error codes

<!-- Made by \`deno task docs\` from src/model/errors.ts and bin/docs/error_meanings.ts. -->

Every answer with status 400 or above has a JSON body (browsers get a page):

\`\`\`json
{ "status": ${status}, "errorMessage": "${text}", "code": "ERR_UNKNOWN_SERVER", "requestId": "…" }
\`\`\`

\`code\` never changes its meaning; the text may. \`requestId\` is in every line that the log has about the request, with
the reason, which the answer omits.

| Code | Status | Meaning | What to do |
| --- | --- | --- | --- |
${rows.join("\n")}
`;
}
