// Loads the gateway and the REST proxy with more requests than they can serve, and with callers that exceed their limits.
import { defineVerification } from "../../verification.ts";
import { runParts } from "../../parts.ts";
import { type OverloadPart, partOptions } from "./part.ts";
import { passThroughPart } from "./pass-through.ts";
import { gatewayPart } from "./pressure.ts";
import { sharedLimitPart } from "./shared-limit.ts";

/** In the order in which they run. */
const parts: readonly OverloadPart[] = [gatewayPart, passThroughPart, sharedLimitPart];
const names = parts.map(({ name }) => name);

export const overload = defineVerification({
  name: "overload",
  summary: "gateway and REST proxy serve what they can under overload, and together they grant a caller one limit",
  description: `Runs processes with production settings on the first core, and an open-loop load with a stub upstream on the second: use an otherwise idle
machine with Linux. First attempts are counted. Latency is measured from the time at which a request was due.

${parts.map(({ name, purpose }) => `  ${name.padEnd(15)}${purpose}`).join("\n")}`,
  options: {
    only: { kind: "names", of: names, why: "only these parts" },
    ...partOptions,
  },
  // What `--control` breaks on purpose in each part, so that its claims must fail.
  control: parts.map(({ name, control }) => `${name}: ${control}`).join("; "),
  async run(run) {
    const selected = parts.filter(({ name }) => run.options.only.includes(name));
    await runParts(selected, run);
  },
});
