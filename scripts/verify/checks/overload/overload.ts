// Loads the gateway and the REST proxy with more requests than they can serve.
import { defineVerification } from "../../verification.ts";
import { checkPassThrough } from "./pass-through.ts";
import { checkPressure } from "./pressure.ts";

const parts = { gateway: checkPressure, rest: checkPassThrough } as const;
const names = ["gateway", "rest"] as const;

export const overload = defineVerification({
  name: "overload",
  summary: "gateway and REST proxy serve what they can under overload, critical requests first",
  description: `Runs a process with production settings on the first core, and an open-loop load with a stub upstream on the second: use an otherwise idle
machine with Linux. At 2, 5 and 10 times its capacity it must serve as many requests in time as it can, critical ones first, and recover within 5 s.
First attempts are counted. Latency is measured from the time at which a request was due.`,
  options: {
    only: { fallback: names, quick: ["gateway"], why: "only these parts" },
  },
  // Then each claim with `control: "fails"` must fail.
  control: "ADMISSION=false: every request is admitted",
  async run(run) {
    for (const name of names.filter((candidate) => run.options.only.includes(candidate))) {
      await parts[name](run.isQuick ? 2 : 10, {
        ...run,
        claim: (text, holds, options) => run.claim(`${name}: ${text}`, holds, options),
      });
    }
  },
});
