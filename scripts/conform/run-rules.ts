import { describeResponse, toCurl } from "./exchange.ts";
import type { Rule, RuleFailure, RuleNeed, RuleReport } from "./rule.ts";
import type { Subject } from "./subject.ts";

export type RuleOutcome = "ok" | "failed" | "absent" | "skipped";

export interface RuleResult {
  readonly rule: Rule;
  readonly outcome: RuleOutcome;
  readonly failures: readonly RuleFailure[];
  /** Parts that were not checked, with the reason. */
  readonly skipped: readonly string[];
}

const whyNeeded: Readonly<Record<RuleNeed, string>> = {
  tokens: "needs tokens of the test issuer: run it without --url",
  start: "stops the service: run it without --url and --keep",
  feed: "the service has no change feed (external.feed of service.json, or --feed)",
};

/** In the order of the rules: the last ones stop the service. */
export async function runRules(
  rules: readonly Rule[],
  subject: Subject,
  onResult: (result: RuleResult) => void = () => {},
): Promise<readonly RuleResult[]> {
  const results: RuleResult[] = [];
  for (const rule of rules) {
    const result = await runRule(rule, subject);
    results.push(result);
    onResult(result);
  }
  return results;
}

async function runRule(rule: Rule, subject: Subject): Promise<RuleResult> {
  const failures: RuleFailure[] = [];
  const skipped: string[] = [];
  let passes = 0;
  let absences = 0;
  const expectThat: RuleReport["expectThat"] = (isExpected, failure) => {
    if (isExpected) passes += 1;
    else failures.push(failure);
  };
  const report: RuleReport = {
    expectThat,
    expect: (exchange, isExpected, expected) =>
      expectThat(isExpected, { how: toCurl(exchange.request), expected, got: describeResponse(exchange) }),
    expectStatus: (exchange, ...statuses) =>
      report.expect(exchange, statuses.includes(exchange.status), statuses.join(" or ")),
    absent: () => void (absences += 1),
    skip: (reason) => void skipped.push(reason),
  };
  const missing = rule.needs !== undefined && isMissing(rule.needs, subject);
  if (missing) skipped.push(whyNeeded[rule.needs]);
  else await rule.check(subject, report);
  const outcome = failures.length > 0 ? "failed" : absences > 0 ? "absent" : passes > 0 ? "ok" : "skipped";
  return { rule, outcome, failures, skipped: [...new Set(skipped)] };
}

function isMissing(need: RuleNeed, { issuer, drain, feed }: Subject): boolean {
  if (need === "tokens") return issuer === undefined;
  return need === "start" ? drain === undefined : feed === undefined;
}
