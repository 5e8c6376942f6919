// The load generator's process. run/testbed.ts starts it, pins it to the core of the subgraphs and sends it jobs (load-job.ts). The caller sends the next
// job only after the report or the problem of the last one: two jobs at once would measure each other.
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
