import type { Repository, Rule } from "./repository.ts";
import { codeRules } from "./rules/code-rules.ts";
import { domainRules } from "./rules/domain-rules.ts";
import { folderRules } from "./rules/folder-rules.ts";
import { gatewayRules } from "./rules/gateway-rules.ts";
import { languageRules } from "./rules/language-rules.ts";
import { logRules } from "./rules/log-rules.ts";
import { migrationRules } from "./rules/migration-rules.ts";
import { packageRules } from "./rules/package-rules.ts";
import { restProxyRules } from "./rules/rest-proxy-rules.ts";
import { serviceRules } from "./rules/service-rules.ts";
import { typeNameRules } from "./rules/type-name-rules.ts";

/** Every rule of the repository: the directions of imports, ARCHITECTURE.md "Invariants", and the style that a program can check. */
export const rules: readonly Rule[] = [
  ...packageRules,
  ...serviceRules,
  ...migrationRules,
  ...gatewayRules,
  ...restProxyRules,
  ...domainRules,
  ...codeRules,
  ...folderRules,
  ...logRules,
  ...typeNameRules,
  ...languageRules,
];

/** The violations of one rule, a line each: "path:line finding. The rule.", which a terminal turns into a link. */
export function listViolations({ sentence, find }: Rule, repository: Repository): string[] {
  return find(repository).map(({ path, line, found }) => `${path}:${line} ${found}. ${sentence}`);
}
