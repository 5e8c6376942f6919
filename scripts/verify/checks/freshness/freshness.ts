// A write through either API is seen through both: with a receipt always, without one soon.
import { runParts } from "../../parts.ts";
import { defineVerification } from "../../verification.ts";
import { cdnPart } from "./cdn.ts";
import { consistencyPart } from "./consistency.ts";
import { feedLoadPart } from "./feed-load.ts";
import { latencyPart } from "./latency.ts";
import { type FreshnessPart, partOptions } from "./part.ts";

const parts: readonly FreshnessPart[] = [consistencyPart, latencyPart, feedLoadPart, cdnPart];

export const freshness = defineVerification({
  name: "freshness",
  summary: "a write through either API is seen through both: with a receipt always, without one soon",
  description: `Starts platforms of several replicas with an embedded PostgreSQL, and measures on an otherwise idle machine.

${parts.map(({ name, purpose }) => `  ${name.padEnd(13)}${purpose}`).join("\n")}`,
  options: {
    only: {
      kind: "names",
      of: parts.map(({ name }) => name),
      quick: ["consistency"],
      why: "only these parts",
    },
    ...partOptions,
  },
  control: parts.map(({ name, control }) => `${name}: ${control}`).join("; "),
  async run(run) {
    const selected = parts.filter(({ name }) => run.options.only.includes(name));
    await runParts(selected, run);
  },
});
