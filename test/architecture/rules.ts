import type { House, Rule } from "./house.ts";
import { codeRules } from "./rules/code-rules.ts";
import { domainRules } from "./rules/domain-rules.ts";
import { gatewayRules } from "./rules/gateway-rules.ts";
import { logRules } from "./rules/log-rules.ts";
import { packageRules } from "./rules/package-rules.ts";
import { serviceRules } from "./rules/service-rules.ts";

/** Every rule of the house: its directions, and ARCHITECTURE.md "Invariants". */
export const rules: readonly Rule[] = [
  ...packageRules,
  ...serviceRules,
  ...gatewayRules,
  ...domainRules,
  ...codeRules,
  ...logRules,
];

/** Each violation in one line, "path:line what is there. The rule.", as a terminal links to it. */
export function listViolations(house: House): string[] {
  return rules.flatMap(({ sentence, find }) =>
    find(house).map(({ path, line, found }) => `${path}:${line} ${found}. ${sentence}`),
  );
}
