// Tests the gateway against hostile clients, new operations in each request, and frequent supergraph changes.
import { pinThisProcess } from "@tributary/kit/testing/processes/launched-process";
import { defineVerification } from "../../verification.ts";
import { attacksCheck } from "./attacks.ts";
import { type ResilienceCheck, runCheck } from "./check.ts";
import { generationsCheck } from "./generations.ts";
import { memoryCheck } from "./memory.ts";

/** In the order in which they run. */
const checks: readonly ResilienceCheck[] = [attacksCheck, generationsCheck, memoryCheck];
const names = checks.map(({ name }) => name);

export const resilience = defineVerification({
  name: "resilience",
  summary: "hostile clients and new supergraphs affect no other request to the gateway, and leak nothing",
  description: `Starts gateways with clients that attack and with supergraphs that change, and measures the responses to all other clients,
and memory. The subgraphs are those of the gateway's tests (gateway/test/helpers). The gateway runs on the first core, clients and subgraphs
on the second: use an otherwise idle machine.

${checks.map(({ name, purpose }) => `  ${name.padEnd(15)}${purpose}`).join("\n")}`,
  options: {
    only: {
      fallback: names,
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
