// The load generator's process, on the core of the backends. Sends `ready` once over IPC, then `window-started` and `report` for each job; a
// `problem` replaces either message and ends the job. testbed.ts sends the next job only after the end of the last: two jobs at once would measure
// each other.
import { type LoadJob, type WindowReport, measureLoad } from "./measure-load.ts";

export type LoadMessage =
  | { readonly kind: "ready" }
  | { readonly kind: "window-started" }
  | { readonly kind: "report"; readonly report: WindowReport }
  | { readonly kind: "problem"; readonly problem: string };

const send = (message: LoadMessage) => void process.send?.(message);

const sendProblem = (error: unknown) =>
  send({ kind: "problem", problem: error instanceof Error ? error.message : String(error) });

process.on("message", (job: LoadJob) => {
  const onWindow = () => send({ kind: "window-started" });
  measureLoad(job, onWindow).then((report) => send({ kind: "report", report }), sendProblem);
});
process.on("disconnect", () => process.exit());
send({ kind: "ready" });
