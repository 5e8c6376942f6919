// The load in a process of its own, pinned to the core of the subgraphs. One job after the other.
import type { LoadJob, LoadSaid } from "./job.ts";
import { measureLoad } from "./window.ts";

const say = (said: LoadSaid | "ready") => void process.send?.(said);

process.on("message", (job: LoadJob) => {
  measureLoad(job, () => say({ kind: "window-begins" })).then(
    (report) => say({ kind: "report", report }),
    (error: unknown) => say({ kind: "problem", problem: error instanceof Error ? error.message : String(error) }),
  );
});
process.on("disconnect", () => process.exit());
say("ready");
