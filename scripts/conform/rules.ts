import type { Rule } from "./rule.ts";
import { driftRules } from "./rules/drift-rules.ts";
import { feedRules } from "./rules/feed-rules.ts";
import { graphqlRules } from "./rules/graphql-rules.ts";
import { drainRules, healthRules } from "./rules/health-rules.ts";
import { readRules } from "./rules/read-rules.ts";
import { requestRules, tokenRules } from "./rules/request-rules.ts";
import { writeRules } from "./rules/write-rules.ts";

/** In the order of checking. */
export const conformRules: readonly Rule[] = [
  ...healthRules,
  ...driftRules,
  ...graphqlRules,
  ...tokenRules,
  ...readRules,
  ...writeRules,
  ...requestRules,
  ...feedRules,
  // The last ones stop the service.
  ...drainRules,
];
