import type { Family } from "../../src/metrics/families.ts";

/** The page that explains every metric. */
export function metricsTable(families: Readonly<Record<string, Family>>): string {
  const rows = Object.entries(families).map(([name, { type, help, labels }]) =>
    `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(", ")} | ${help} |`
  );
  return `# Metrics

Made from \`src/metrics/families.ts\` by \`deno task docs\`; see [monitoring](../monitoring.md) for how to get and use them.

| Name | Type | Labels | Meaning |
| --- | --- | --- | --- |
${rows.join("\n")}
`;
}
