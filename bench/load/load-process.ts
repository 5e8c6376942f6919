// The load generator's process, pinned to the core of the subgraphs. Runs one job after the other.
import type { LoadJob, LoadMessage } from "./load-job.ts";
import { measureLoad } from "./measure-load.ts";

const send = (message: LoadMessage | "ready") => void process.send?.(message);

process.on("message", (job: LoadJob) => {
  measureLoad(job, () => send({ kind: "window-started" })).then(
    (report) => send({ kind: "report", report }),
    (error: unknown) => send({ kind: "problem", problem: error instanceof Error ? error.message : String(error) }),
  );
});
process.on("disconnect", () => process.exit());
send("ready");
