// Tests the gateway against wrong subgraphs, hostile clients, disconnects and frequent supergraph changes.
import { pinThisProcess } from "@tributary/kit/testing/processes/launched-process";
import { defineVerification } from "../../verification.ts";
import { abortsCheck } from "./aborts.ts";
import { attacksCheck } from "./attacks.ts";
import { type ResilienceCheck, runCheck } from "./check.ts";
import { generationsCheck } from "./generations.ts";
import { introspectionCheck } from "./introspection.ts";
import { memoryCheck } from "./memory.ts";
import { plannerCheck } from "./planner.ts";
import { swapsCheck } from "./swaps.ts";
import { wrongResponsesCheck } from "./wrong-responses.ts";

/** In the order in which they run. */
const checks: readonly ResilienceCheck[] = [
  wrongResponsesCheck,
  attacksCheck,
  plannerCheck,
  abortsCheck,
  swapsCheck,
  generationsCheck,
  introspectionCheck,
  memoryCheck,
];
const names = checks.map(({ name }) => name);

export const resilience = defineVerification({
  name: "resilience",
  summary: "wrong subgraphs, hostile clients and new supergraphs affect no other request to the gateway",
  description: `Starts gateways with subgraphs that respond wrongly, slowly or not at all, with clients that attack or disconnect, and
with supergraphs that change, and measures the responses to all other clients. The subgraphs are those of the gateway's tests
(gateway/test/helpers). The gateway runs on the first core, clients and subgraphs on the second: use an otherwise idle machine.

${checks.map(({ name, purpose }) => `  ${name.padEnd(15)}${purpose}`).join("\n")}`,
  options: {
    only: {
      kind: "names",
      of: names,
      // Memory use reaches its plateau only after many minutes.
      quick: names.filter((name) => name !== memoryCheck.name),
      why: "only these checks",
    },
  },
  // With `--control`, instead of the repository's gateway. `runCheck` (check.ts) claims the fault.
  control: "tests an unmodified Apollo Gateway, in which most checks must find a fault",
  async run(run) {
    pinThisProcess(1);
    const selected = checks.filter(({ name }) => run.options.only.includes(name));
    for (const check of selected) await runCheck(check, run);
  },
});
