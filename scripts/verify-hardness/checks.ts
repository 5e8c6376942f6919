import { abortsCheck } from "./aborts.ts";
import { wrongResponsesCheck } from "./wrong-responses.ts";
import { attacksCheck } from "./attacks.ts";
import type { ResilienceCheck } from "./check.ts";
import { generationsCheck } from "./generations.ts";
import { introspectionCheck } from "./introspection.ts";
import { memoryCheck } from "./memory.ts";
import { plannerCheck } from "./planner.ts";
import { replicasCheck } from "./platform/replicas.ts";
import { swapsCheck } from "./swaps.ts";

export const checks: readonly ResilienceCheck[] = [
  wrongResponsesCheck,
  attacksCheck,
  plannerCheck,
  abortsCheck,
  replicasCheck,
  swapsCheck,
  generationsCheck,
  introspectionCheck,
  memoryCheck,
];
