import { abortsCheck } from "./aborts.ts";
import { swapsCheck } from "./swaps.ts";
import { generationsCheck } from "./generations.ts";
import { replicasCheck } from "./replicas.ts";
import { answersCheck } from "./answers.ts";
import { attacksCheck } from "./attacks.ts";
import type { Check } from "./check.ts";

export const checks: readonly Check[] = [
  answersCheck,
  attacksCheck,
  abortsCheck,
  replicasCheck,
  swapsCheck,
  generationsCheck,
];
