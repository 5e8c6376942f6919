// The load generator and the stub upstream, in one process on the load's core. Sends the stub's port once to load-testbed.ts over IPC, then for each
// job a report or a problem.
import { setFlagsFromString } from "node:v8";
import type { LoadJob, LoadReport } from "./load-job.ts";
import { runLoad } from "./load-run.ts";
import { startStubUpstream } from "./stub-upstream.ts";

export type LoadMessage =
  | { readonly kind: "ready"; readonly stubPort: number }
  | { readonly kind: "report"; readonly report: LoadReport }
  | { readonly kind: "problem"; readonly problem: string };

// The processes under test set this flag too (kit/src/process/main.ts). Without it, full garbage collections would delay requests.
setFlagsFromString("--no-allocation-site-pretenuring");

function send(message: LoadMessage): void {
  process.send?.(message);
}

process.on("message", (job: LoadJob) => {
  runLoad(job).then(
    (report) => send({ kind: "report", report }),
    (error: unknown) => send({ kind: "problem", problem: String(error) }),
  );
});
process.on("disconnect", () => process.exit());
send({ kind: "ready", stubPort: await startStubUpstream() });
