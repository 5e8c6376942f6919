import type { RuleOutcome, RuleResult } from "./run-rules.ts";

const labels: Readonly<Record<RuleOutcome, string>> = {
  ok: "ok",
  failed: "FAILED",
  absent: "absent",
  skipped: "skipped",
};
/** The first ones show what is wrong. */
const failuresShown = 3;

export function formatResult({ rule, outcome, failures, skipped }: RuleResult): string {
  const { id, text, section, without } = rule;
  const lines = [`${labels[outcome].padEnd(8)} ${id.padEnd(24)} ${text}`];
  if (outcome === "absent" && without !== undefined) lines.push(`  without it: ${without}`);
  if (outcome === "skipped") lines.push(`  ${skipped[0] ?? "nothing to check"}`);
  if (failures.length > 0) lines.push(`  docs/service-contract.md, "${section}"`);
  for (const { how, expected, got } of failures.slice(0, failuresShown))
    lines.push(`  $ ${how}`, `    expected: ${expected}`, `    got:      ${got}`);
  if (failures.length > failuresShown) lines.push(`  and ${failures.length - failuresShown} more`);
  return lines.join("\n");
}

/** With all that was not checked. */
export function formatSummary(name: string, results: readonly RuleResult[]): string {
  const count = (wanted: RuleOutcome) => results.filter(({ outcome }) => outcome === wanted).length;
  const reasons = new Set(results.flatMap(({ skipped }) => skipped));
  return [
    "",
    ...(reasons.size > 0 ? ["Not checked:", ...[...reasons].map((reason) => `  ${reason}`)] : []),
    `${name}: ${count("ok")} ok, ${count("failed")} failed, ${count("absent")} absent (optional), ${count("skipped")} skipped`,
  ].join("\n");
}
