// A write through either API is seen through both: with a receipt always, without one soon. `consistency` kills every process in turn, `latency`
// measures how long stale reads last, and the other parts measure the caches and the feeds.
import { runParts } from "../../parts.ts";
import { defineVerification } from "../../verification.ts";
import { cdnPart } from "./cdn.ts";
import { conditionalPart } from "./conditional.ts";
import { consistencyPart } from "./consistency.ts";
import { feedLoadPart } from "./feed-load.ts";
import { hitsPart } from "./hits.ts";
import { latencyPart } from "./latency.ts";
import { type FreshnessPart, partOptions } from "./part.ts";
import { writeCostPart } from "./write-cost.ts";

/** In the order in which they run. */
const parts: readonly FreshnessPart[] = [
  consistencyPart,
  latencyPart,
  conditionalPart,
  hitsPart,
  writeCostPart,
  feedLoadPart,
  cdnPart,
];

export const freshness = defineVerification({
  name: "freshness",
  summary: "a write through either API is seen through both: with a receipt always, without one soon",
  description: `Starts platforms of several replicas with an embedded PostgreSQL, and measures on an otherwise idle machine.

${parts.map(({ name, purpose }) => `  ${name.padEnd(13)}${purpose}`).join("\n")}`,
  options: {
    only: {
      kind: "names",
      of: parts.map(({ name }) => name),
      quick: ["consistency", "conditional"],
      why: "only these parts",
    },
    ...partOptions,
  },
  // What `--control` breaks on purpose in each part, so that its claims must fail.
  control: parts.map(({ name, control }) => `${name}: ${control}`).join("; "),
  async run(run) {
    const selected = parts.filter(({ name }) => run.options.only.includes(name));
    await runParts(selected, run);
  },
});
