// Loads the gateway and the REST proxy with more requests than they can serve.
import { defineVerification } from "../../verification.ts";
import { checkPressure } from "./pressure.ts";
import type { EndpointKind } from "./tested-processes.ts";

const kinds: readonly EndpointKind[] = ["gateway", "rest-proxy"];

export const overload = defineVerification({
  name: "overload",
  summary: "gateway and REST proxy serve what they can under overload, critical requests first",
  description: `Runs a process with production settings on the first core, and an open-loop load with a stub upstream on the second: use an otherwise idle
machine with Linux. At 2, 5 and 10 times its capacity it must serve as many requests in time as it can, critical ones first, and recover within 5 s.
First attempts are counted. Latency is measured from the time at which a request was due.`,
  options: {
    only: { kind: "names", of: kinds, quick: ["gateway"], why: "only these processes" },
  },
  // Then each claim with `control: "fails"` must fail.
  control: "ADMISSION=false: every request is admitted",
  async run(run) {
    for (const kind of kinds.filter((name) => run.options.only.includes(name)))
      await checkPressure(kind, run.isQuick ? 2 : 10, {
        ...run,
        claim: (text, holds, options) => run.claim(`${kind}: ${text}`, holds, options),
      });
  },
});
